// SPDX-License-Identifier: BSD-3-Clause
// Placement of ranks that form a grid (rank_grid.h) on hosts that form a box (host_levels.h).
//
// Every dimension of the ranks is divided among the levels of the hosts: its extent is written as a
// product of one factor for each level. So tiles of ranks go to a host, tiles of tiles to a switch or
// to a row of a torus. Digits are reflected (Gray code), so that neighbours in one dimension of the
// ranks differ by one step in one level. All divisions are tried, and all orders of dimensions and
// levels, up to a limit; the cheapest is the result.
#pragma once

#include <optional>

#include "simulator/placement/distance/place_costs.h"

namespace fathom::simulator {

// nullopt if the ranks form no grid, or the hosts no box that it fits. Cost: up to 4,000 evaluations.
std::optional<Places> place_on_grid(const PlaceCosts& costs);

}  // namespace fathom::simulator
