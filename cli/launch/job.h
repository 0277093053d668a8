// SPDX-License-Identifier: BSD-3-Clause
// Runs the job as a child process and waits for it. The terminal, the process group, stdin, stdout
// and stderr are those of this process. A signal reaches the job once: what went to the whole group
// it has already (group_witness.h), what went to fathom alone is passed on.
#pragma once

#include "base/result.h"
#include "cli/launch/launcher.h"

namespace fathom::cli {

struct JobEnd {
  int code = 0;  // the job's exit code; 128 + the signal's number if a signal ended it
  int signal =
      0;  // the one that ended the job, or that it got when it was to end; 0 if there was none
};

// An Error if the job never started. If a signal ended it, its orphans have ended too when this
// returns, or had five seconds to.
base::Result<JobEnd> run_job(const Launch& launch);

}  // namespace fathom::cli
