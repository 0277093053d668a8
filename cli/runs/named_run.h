// SPDX-License-Identifier: BSD-3-Clause
// A run as given by the user, loaded for analyses.
#pragma once

#include <string>

#include "analysis/load_run.h"

namespace fathom::cli {

// A run directory or a profile.json. A run that has only a trace (an imported one) is used as it
// is; one that was cut short is merged first.
base::Result<analysis::LoadedRun> load_named_run(const std::string& run,
                                                 const analysis::Scope& scope,
                                                 analysis::Transport* transport = nullptr);

}  // namespace fathom::cli
