// SPDX-License-Identifier: BSD-3-Clause
// A simulated scenario on one screen: jobs, links, and the busiest of each.
#pragma once

#include <string>

#include "scenario/combination.h"

namespace fathom::cli {

// Width of the placement column, for left(); rank files are shown by name.
inline constexpr std::size_t kPlacementWidth = 16;

std::string simulation_report(const scenario::CombinationRun& run);

// One line of a table of many runs, and its two heading lines.
std::string simulation_line(std::size_t number, const scenario::CombinationRun& run);
std::string simulation_line_heading();

}  // namespace fathom::cli
