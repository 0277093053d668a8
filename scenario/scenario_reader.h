// SPDX-License-Identifier: BSD-3-Clause
// Reads a scenario: YAML, docs/scenarios.md. Files of the reference simulator (PFSim) are
// scenarios, too: its keys and class names are understood.
#pragma once

#include <string>

#include "base/result.h"
#include "scenario/scenario.h"

namespace fathom::scenario {

inline constexpr std::size_t kMostCombinations = 1'000'000;

// All combinations, in the order in which the lists stand for in docs/scenarios.md. Paths are
// relative to the file's folder. An Error names file, line and column; unknown keys and names come
// with the known ones.
base::Result<ScenarioFile> read_scenarios(const std::string& path);

}  // namespace fathom::scenario
