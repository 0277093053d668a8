// SPDX-License-Identifier: BSD-3-Clause
// fathom-sampler LISTENER PID RUN
//
// Watches a run's ranks on a host where nobody else does (live/host_watch.h); the first rank there that
// finds nobody starts it (profiler/live/announce.h). LISTENER is the socket where ranks announce
// themselves (live/announcement.h), PID is that rank. It ends with the ranks of the host.
//
// It prints nothing, because it has no output: what cannot be read is missing.
#include <unistd.h>

#include <cstdlib>

#include "base/process/detached_process.h"
#include "live/host_watch.h"

int main(int count, char** words) try {
  if (count != 4) return 2;
  const int listener = std::atoi(words[1]);
  fathom::base::close_all_but({listener});
  fathom::base::ignore_end_of_job();
  (void)!chdir("/");
  fathom::base::leave_core_of(static_cast<pid_t>(std::atoi(words[2])));
  fathom::live::watch_host(words[3], fathom::live::Announcements(listener), -1);
} catch (...) {
  return 1;
}
