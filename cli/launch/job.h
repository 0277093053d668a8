// SPDX-License-Identifier: BSD-3-Clause
// Runs the job as a child process and waits for it. The job shares this process's terminal, process
// group, stdin, stdout and stderr. A signal reaches the job once: a signal to the whole group
// reaches it directly (group_witness.h); one to fathom alone is forwarded.
#pragma once

#include <chrono>
#include <functional>

#include "base/result.h"
#include "cli/launch/launcher.h"

namespace fathom::cli {

struct JobEnd {
  int code = 0;    // the job's exit code; 128 + the signal's number if a signal ended it
  int signal = 0;  // the signal that ended the job, or was sent to end it; 0: none
};

// What the caller does meanwhile; empty functions: nothing.
struct JobWatch {
  std::function<void()> started;
  // Called when the job has run for `first`, and then when it has run for what the last call
  // returned, which must be more.
  std::function<std::chrono::seconds(std::chrono::seconds running)> beat;
  std::chrono::seconds first{60};
};

// An Error if the job never started. If a signal ended it, its orphans have ended too when this
// returns, or had five seconds to do so.
base::Result<JobEnd> run_job(const Launch& launch, const JobWatch& watch = {});

}  // namespace fathom::cli
