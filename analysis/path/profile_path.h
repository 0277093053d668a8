// SPDX-License-Identifier: BSD-3-Clause
// The critical path of a run without a trace, which its processes followed at MPI_Finalize
// (profile.h: CriticalPath).
//
// The same shares by rank, function and place as from a trace, and those of the windows that the
// program named. What only a trace can tell is left out: slack, critter's metrics and the order of
// the parts.
#pragma once

#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

// input.profile has a path (analysis/run.h: can_run).
base::Result<Outcome> critical_path_of_profile(const Input& input);

}  // namespace fathom::analysis
