// SPDX-License-Identifier: BSD-3-Clause
// The folder that a simulation leaves its results in.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace fathom::cli {

// Makes the folder, or takes one that is there. An Error if it holds results of a simulation and
// `replace` is not set; with it, their files (and nothing else) are removed: results.json,
// runs.csv, run-N, and links-…, utilisation-…, waiting-… and forwarding-… files. `shared_runs`:
// run-1 to run-shared_runs may be other processes' that have begun before, and are left alone.
base::Status take_results_folder(const std::string& folder, bool replace,
                                 std::size_t shared_runs = 0);

}  // namespace fathom::cli
