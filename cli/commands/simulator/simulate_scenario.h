// SPDX-License-Identifier: BSD-3-Clause
// `fathom simulate SCENARIO.yml`: runs all combinations, distributed over cores and over the
// processes of a launcher.
#pragma once

#include <string>

namespace fathom::cli {

struct ScenarioRequest {
  std::string path;
  std::string directory;  // empty: as in the file
  unsigned threads = 0;   // 0: one per core
  bool replace = false;   // replace results already in the folder
  bool json = false;      // print results.json instead of the report
};

// Prints, and returns the exit code.
int simulate_scenario(const ScenarioRequest& request);

}  // namespace fathom::cli
