// SPDX-License-Identifier: BSD-3-Clause
// The critical path of a run without a trace, which its processes followed at MPI_Finalize
// (profile.h: CriticalPath).
//
// The same shares by rank, function and place as from a trace, those of the windows that the program
// named, and of critter's metrics those that need no trace (profile_metrics.h). What only a trace
// can tell is left out: slack, the other metrics and the order of the parts.
#pragma once

#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

// input.profile has a path (analysis/run.h: can_run).
base::Result<Outcome> critical_path_of_profile(const Input& input);

// The windows that the program named, which no trace has: a traced run's profile has them, too.
void add_windows(const profile::Profile& profile, Outcome& outcome);

}  // namespace fathom::analysis
