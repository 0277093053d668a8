// SPDX-License-Identifier: BSD-3-Clause
// The run time that would have been with the changes in Input::changes (changed_run.h).
#pragma once

#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

base::Result<Outcome> what_if(const Input& input);

}  // namespace fathom::analysis
