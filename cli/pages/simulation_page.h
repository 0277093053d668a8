// SPDX-License-Identifier: BSD-3-Clause
// A simulated scenario on one screen: jobs, links, the busiest of them.
#pragma once

#include <string>

#include "scenario/combination.h"

namespace fathom::cli {

// Of the column with the placement, for left(): rank files go by their name.
inline constexpr std::size_t kPlacementWidth = 16;

std::string simulation_report(const scenario::CombinationRun& run);

// One line of a table of many runs, and the two lines above it.
std::string simulation_line(std::size_t number, const scenario::CombinationRun& run);
std::string simulation_line_heading();

}  // namespace fathom::cli
