// SPDX-License-Identifier: BSD-3-Clause
// Wait states: which processes waited, in which call, for whom and how long, and what the root
// cause was.
//
// Sources of the definitions: analysis/engine/call_wait.h, analysis/engine/collectives.h,
// analysis/waits/wait_steps.h.
#pragma once

#include "analysis/engine/call_wait.h"
#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

base::Result<Outcome> wait_states(const Input& input);

}  // namespace fathom::analysis
