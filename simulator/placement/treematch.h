// SPDX-License-Identifier: BSD-3-Clause
// Bottom-up grouping along the machine's tree, after TreeMatch (E. Jeannot, G. Mercier, F. Tessier,
// Process placement in multicore clusters, IEEE TPDS 25(4), 2014). Ranks with the most traffic
// between them form groups as large as a host, these form groups as large as a switch's number of
// hosts, and groups with the most traffic between them are placed next to each other. Groups grow
// one member at a time, by the member that exchanges most with the group, instead of being chosen
// among all combinations.
#pragma once

#include "simulator/placement/placement.h"

namespace fathom::simulator {

// Cost: O(hosts^2 + pairs * log(pairs)).
base::Result<Placement> place_treematch(const PlacementRequest& request);

}  // namespace fathom::simulator
