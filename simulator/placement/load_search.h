// SPDX-License-Identifier: BSD-3-Clause
// Local search for a placement by the load of links: moves ranks as long as that helps.
//
// It minimises, over links l with load_l bytes and capacity C_l,
//
//     congestion, time   sum_l (load_l / C_l)^8   a smooth stand-in for the largest term: with a
//                                                 growing exponent, the root tends to it
//     hop-bytes          sum_l load_l             for routers that do not take shortest paths;
//                                                 otherwise search.h finds better
//     host-bytes         sum of load_l over links out of hosts
//
// with the paths that the router chose for the starting placement (path_cache.h). A move swaps two
// ranks on different hosts, or takes a rank to a free slot; a move that reduces the sum is kept. For
// each rank it tries the hosts of its heaviest partners, hosts beside these, and some random ones.
#pragma once

#include "simulator/placement/distance/place_costs.h"
#include "simulator/placement/objective.h"
#include "simulator/placement/search.h"

namespace fathom::simulator {

// Starts from `places`. Tries a twentieth of the effort's moves, which take longer here, but at least
// 200,000 unless the effort gives a number. The same seed gives the same result. The Error is the
// router's. Cost per move: the links on the paths of the two ranks' messages.
base::Result<Places> improve_loads(const PlacementRequest& request, const PlaceCosts& costs,
                                   const RouterRow& router, Objective objective, Places places,
                                   const SearchEffort& effort = {});

}  // namespace fathom::simulator
