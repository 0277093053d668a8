// Runs the job as a child process and waits for it. The terminal, stdin, stdout and stderr are the
// job's own; signals sent to fathom (not those the terminal sends to both) are passed on to it.
#pragma once

#include "base/result.h"
#include "cli/launcher.h"

namespace fathom::cli {

// The job's exit code; 128 + the signal's number if a signal ended it. An Error if it never started.
base::Result<int> run_job(const Launch& launch);

}  // namespace fathom::cli
