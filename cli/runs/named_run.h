// SPDX-License-Identifier: BSD-3-Clause
// A run as the user names it, loaded for analyses.
#pragma once

#include <string>

#include "analysis/load_run.h"

namespace fathom::cli {

// A run directory or a profile.json. A run that only has a trace (an imported one) is taken as it
// is; one that was cut short is merged first.
base::Result<analysis::LoadedRun> load_named_run(const std::string& run,
                                                 const analysis::Scope& scope,
                                                 analysis::Transport* transport = nullptr);

}  // namespace fathom::cli
