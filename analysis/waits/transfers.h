// SPDX-License-Identifier: BSD-3-Clause
// The transfer view: what happens to each message between request and completion
// (transfer_steps.h), and what blocked calls wait for (blocked_time.h).
#pragma once

#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

base::Result<Outcome> transfers(const Input& input);

}  // namespace fathom::analysis
