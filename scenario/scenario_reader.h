// SPDX-License-Identifier: BSD-3-Clause
// Reads a scenario: YAML, docs/scenarios.md. Also accepts files of the reference simulator (PFSim),
// with its keys and class names.
#pragma once

#include <string>

#include "base/result.h"
#include "scenario/scenario.h"

namespace fathom::scenario {

inline constexpr std::size_t kMostCombinations = 100'000;

// All combinations, in the order that docs/scenarios.md defines for lists. Paths are relative to
// the file's folder. An Error names file, line and column; for an unknown key or name it lists the
// known ones.
base::Result<ScenarioFile> read_scenarios(const std::string& path);

}  // namespace fathom::scenario
