// SPDX-License-Identifier: BSD-3-Clause
// `fathom simulate --compare A B`: results of simulations side by side, the best combination
// marked.
#pragma once

#include <string>
#include <vector>

namespace fathom::cli {

struct ComparisonRequest {
  std::vector<std::string> folders;  // with results.json each, or results.json itself
  std::string directory;             // for comparison.json; empty: nothing is written
  bool replace = false;              // replace a comparison.json
  bool json = false;                 // print JSON instead of the tables
};

// Prints, and returns the exit code.
int compare_simulations(const ComparisonRequest& request);

}  // namespace fathom::cli
