// SPDX-License-Identifier: BSD-3-Clause
// Reads what a running job does, while the job does nothing for it.
//
// The processes on this machine are read from their pages (live/page.h), so the reader must be the
// same user. Others are read from RUN/live/HOST (live/host_sample.h), which the process that keeps the pages on
// that host rewrites once a second; hosts_late names the hosts whose sample is older than two seconds.
//
// Threading: one thread. A reader holds the pages open that it has found, so it still sees the last
// counts of a process that was killed.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "live/job_state.h"

namespace fathom::live {

class JobReader {
 public:
  // `run`: run directory of the job. The other hosts of a large job send details only while a reader
  // wants them; without, ranks have sums, and no pairs and channels.
  explicit JobReader(const std::string& run, bool wants_details = true);
  ~JobReader();
  // From the next read() on.
  void want_details();

  // What the job does now. An Error if no process of it can be seen, and none was seen before; ranks
  // that were seen stay, as kEnded or kGone.
  base::Result<JobState> read();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom::live
