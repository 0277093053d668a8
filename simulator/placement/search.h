// SPDX-License-Identifier: BSD-3-Clause
// Local search for a placement: moves ranks as long as that helps.
//
// It minimises, over links l with load_l bytes and capacity C_l,
//
//     congestion, time   sum_l (load_l / C_l)^8   a smooth stand-in for the largest term: with a
//                                                 growing exponent, the root tends to it
//     hop-bytes          sum_l load_l
//     host-bytes         sum of load_l over links out of hosts
//
// with the paths that the router chose for the starting placement. A move swaps two ranks on
// different hosts, or takes a rank to a free slot; a move that reduces the sum is kept. For each
// rank it tries the places beside its heaviest partners, and some random ones.
#pragma once

#include <cstdint>

#include "simulator/placement/objective.h"

namespace fathom::simulator {

struct SearchEffort {
  std::uint64_t moves = 200'000;  // maximum number of moves to try
};

// Starts from `placement`, which uses request.hosts. The same seed gives the same result. The Error
// is the router's. Cost per move: the links on the paths of the two ranks' messages.
base::Result<Placement> improve_placement(const PlacementRequest& request, const RouterRow& router,
                                          Objective objective, Placement placement,
                                          const SearchEffort& effort = {});

// A placement: the best of block, bisection and treematch by hop-bytes, then improved on shortest
// paths.
base::Result<Placement> place_search(const PlacementRequest& request);

}  // namespace fathom::simulator
