// SPDX-License-Identifier: BSD-3-Clause
// The results folder of a simulation.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace fathom::cli {

// Creates the folder, or uses an existing one. An Error if it has results of a simulation and
// `replace` is not set; otherwise removes exactly their files: results.json, runs.csv, run-N, and
// links-…, utilisation-…, waiting-… and forwarding-… files. Leaves run-1 to run-shared_runs alone:
// other processes may have begun them.
base::Status take_results_folder(const std::string& folder, bool replace,
                                 std::size_t shared_runs = 0);

// Copies the folder's results.json to stdout. From the file, because the results of a large
// simulation do not fit into memory, and because nothing is printed if the simulation fails.
base::Status print_results(const std::string& folder);

}  // namespace fathom::cli
