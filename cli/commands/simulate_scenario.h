// SPDX-License-Identifier: BSD-3-Clause
// `fathom simulate SCENARIO.yml`: all combinations, over cores and over the processes of a
// launcher.
#pragma once

#include <string>

namespace fathom::cli {

struct ScenarioRequest {
  std::string path;
  std::string directory;  // empty: what the file says
  unsigned threads = 0;   // 0: as many as cores
  bool replace = false;   // results that the folder holds
};

// Prints; returns the exit code.
int simulate_scenario(const ScenarioRequest& request);

}  // namespace fathom::cli
