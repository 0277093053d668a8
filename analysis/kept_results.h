// SPDX-License-Identifier: BSD-3-Clause
// What an earlier analysis.json of a run keeps when some of its analyses are run again.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/run.h"

namespace fathom::analysis {

struct KeptFinding {
  Finding place;     // kind, seconds, severity, strength and culprits: what findings are ranked by
  std::string json;  // the whole finding
};

struct KeptResults {
  std::vector<KeptFinding> findings;                          // costliest first
  std::vector<std::pair<std::string, std::string>> sections;  // name of the analysis, JSON object
  std::vector<std::string> limits, skipped;
};

// What the document at `path` holds of analyses that are not in `results`. Empty if there is no such
// document, if it cannot be read, or if it is not of this run and all of it: another run's results
// are not worth keeping. Memory: the document.
KeptResults kept_results(const std::string& path, const Results& results);

}  // namespace fathom::analysis
