// SPDX-License-Identifier: BSD-3-Clause
// Hosts as a box of numbers: the dimensions of a torus, mesh or HyperX, or the levels of a tree, then
// the hosts of a switch, then the slots of a host.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/placement/distance/place_costs.h"

namespace fathom::simulator {

// The coordinates of the switch that each host is linked to; empty if the network is no grid, or if
// a host is not linked to exactly one of the grid's switches.
std::vector<std::vector<std::uint32_t>> grid_coordinates(const PlaceCosts& costs);

struct HostLevels {
  std::vector<std::uint32_t> extent;  // by level, outermost first; each above one
  std::vector<std::uint32_t>
      host_at;  // index of a slot's host, the innermost level running fastest
};

// nullopt if the hosts do not fill such a box: on a grid that some hosts are missing from, or where
// subtrees differ in size.
std::optional<HostLevels> host_levels(const PlaceCosts& costs);

}  // namespace fathom::simulator
