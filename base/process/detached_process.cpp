// SPDX-License-Identifier: BSD-3-Clause
#include "base/process/detached_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

namespace fathom::base {

void close_all_but(const std::vector<int>& kept) {
  std::vector<int> others;
  if (DIR* folder = opendir("/proc/self/fd")) {
    while (const dirent* entry = readdir(folder)) {
      const int descriptor = std::atoi(entry->d_name);
      const bool is_kept = entry->d_name[0] == '.' || descriptor == dirfd(folder) ||
                           std::find(kept.begin(), kept.end(), descriptor) != kept.end();
      if (!is_kept) others.push_back(descriptor);
    }
    closedir(folder);
  }
  // After the list is complete: closing while the folder is read would change what it lists.
  for (const int descriptor : others) close(descriptor);
  while (open("/dev/null", O_RDWR) < 2) {
  }
}

void ignore_end_of_job() {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ})
    signal(number, SIG_IGN);
}

void leave_core_of(pid_t rank) {
  cpu_set_t own, launcher;
  const std::string path = "/proc/" + std::to_string(rank) + "/stat";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char text[512] = {};
  if (file < 0) return;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  const char* after_name = length > 0 ? std::strrchr(text, ')') : nullptr;  // "PID (NAME) S PARENT"
  if (after_name == nullptr || std::strlen(after_name) < 5) return;
  const auto parent = static_cast<pid_t>(std::atoi(after_name + 4));
  if (sched_getaffinity(0, sizeof own, &own) != 0 || parent <= 0 ||
      sched_getaffinity(parent, sizeof launcher, &launcher) != 0)
    return;
  CPU_OR(&own, &own, &launcher);
  sched_setaffinity(0, sizeof own, &own);
}

void allow_most_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace fathom::base
