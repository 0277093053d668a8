// SPDX-License-Identifier: BSD-3-Clause
// Bottom-up grouping along the tree of the machine, after TreeMatch (E. Jeannot, G. Mercier, F.
// Tessier, Process placement in multicore clusters, IEEE TPDS 25(4), 2014): ranks that send each
// other most form groups as large as a host, those form groups as large as a switch has hosts, and
// groups that send each other most stand next to each other. Groups are grown one member at a time,
// the member that the group exchanges most with, instead of being chosen among all combinations.
#pragma once

#include "simulator/placement/placement.h"

namespace fathom::simulator {

// Cost: O(hosts^2 + pairs * log(pairs)).
base::Result<Placement> map_treematch(const MappingRequest& request);

}  // namespace fathom::simulator
