// SPDX-License-Identifier: BSD-3-Clause
// A simulated scenario on one screen: jobs, links, and the busiest of each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenario/combination.h"

namespace fathom::cli {

std::string simulation_report(const scenario::CombinationRun& run);

// One line of a table of many runs: its cells, with tabs between them.
std::string simulation_line(std::size_t number, const scenario::CombinationRun& run);

// The table from such lines, numbered from 1; `best` by line. Columns of names that are the same in
// all lines stand above the table.
std::string simulation_table(const std::vector<std::string>& lines, const std::vector<bool>& best);

}  // namespace fathom::cli
