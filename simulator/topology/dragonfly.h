// SPDX-License-Identifier: BSD-3-Clause
// Dragonfly (Kim, Dally, Scott, Abts: Technology-driven, highly-scalable dragonfly topology, ISCA
// 2008): groups of switches that are all linked to each other, and links between the groups.
//
// With a switches per group and h global links per switch, a group has a·h global ports; port j is
// on switch floor(j / h). With g groups, ports are used in floor(a·h / (g-1)) rounds; in round r,
// port r(g-1) + o - 1 of group i leads to group i+o (mod g), o = 1…g-1, so every two groups are
// joined by the same number of cables. Ports left over stay unused. Switch s4.2 is switch 2 of
// group 4.
//
// Level 0 of taper: links within a group; level 1: global links.
#pragma once

#include "simulator/topology/topology.h"

namespace fathom::simulator {

// Keys: switches (per group), globals (per switch), hosts (per switch), groups (a·h + 1).
base::Result<Network> make_dragonfly(TopologyParameters& parameters);

}  // namespace fathom::simulator
