// SPDX-License-Identifier: BSD-3-Clause
// Hosts as a box of numbers: the dimensions of a torus, mesh or HyperX, or the levels of a tree, then
// the hosts of a switch, then the slots of a host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/placement/distance/place_costs.h"

namespace fathom::simulator {

// By host: the coordinates of the switch that it is linked to. Empty if the network is no grid, or if a
// host is not linked to exactly one of the grid's switches.
using HostCoordinates = std::vector<std::vector<std::uint32_t>>;
HostCoordinates grid_coordinates(const PlaceCosts& costs);

// Sorts the hosts along the dimension in which they have the most coordinates, and returns how many are
// before the plane nearest to their middle. 0 if there are no coordinates, or all hosts have the same.
std::size_t cut_by_plane(HostGroup& hosts, const HostCoordinates& coordinates);

struct HostLevels {
  std::vector<std::uint32_t> extent;  // by level, outermost first; each above one
  std::vector<std::uint32_t>
      host_at;  // index of a slot's host, the innermost level running fastest
};

// nullopt if the hosts do not fill such a box: on a grid that some hosts are missing from, or where
// subtrees differ in size.
std::optional<HostLevels> host_levels(const PlaceCosts& costs);

}  // namespace fathom::simulator
