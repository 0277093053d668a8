// SPDX-License-Identifier: BSD-3-Clause
// What `fathom run` says when its job has ended: where the profile is, or why there is none. Apart from
// starting the job, because the many reasons would hide how little that takes.
#pragma once

#include <string>
#include <vector>

#include "cli/launch/job.h"
#include "cli/runs/run_directory.h"

namespace fathom::cli {

// "fathom: SENTENCE", after what the job has printed.
void tell(const std::string& sentence);

// Nothing if every rank reached MPI_Finalize: then nothing was to be kept.
void tell_about_flight(const RunDirectory& run);

// Merges and reports what the job left behind; true if there is a profile for later stages. `library`:
// the one that was preloaded into `command`.
bool conclude(const RunDirectory& run, const std::vector<std::string>& command,
              const std::string& library, bool traced, const JobEnd& job);

// Looks up function, file and line of the profiles' call sites. Without the names a profile is complete,
// so a failure is no reason to say anything.
void name_call_sites_of(const RunDirectory& run);

}  // namespace fathom::cli
