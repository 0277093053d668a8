// SPDX-License-Identifier: BSD-3-Clause
// Wait states of a run without a trace, from the waits that the preloaded library found
// (profile.h: CallWaits).
//
// The same kinds, seconds, pairs and places in the program as from a trace. What only a trace can
// tell is left out: when a wait was, what the late rank did meanwhile, and who caused it in the end.
#pragma once

#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

// input.profile knows its waits (analysis/run.h: can_run).
base::Result<Outcome> wait_states_of_profile(const Input& input);

}  // namespace fathom::analysis
