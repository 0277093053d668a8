// SPDX-License-Identifier: BSD-3-Clause
// Local search for a placement: ranks change places as long as that pays.
//
// What is made small is, over links l with load_l bytes and capacity C_l,
//
//     congestion, time   sum_l (load_l / C_l)^8      whose 8th root nears the largest load as exponents grow
//     hop-bytes          sum_l load_l
//     host-bytes         sum over links out of hosts of load_l
//
// with the ways that the router chose for the placement it starts from. A move swaps the places of
// two ranks on different hosts, or takes a rank to a free slot; one that makes the sum smaller is
// kept. Tried are, for each rank, the places beside those that it exchanges most with, and some
// drawn ones.
#pragma once

#include <cstdint>

#include "simulator/placement/objective.h"

namespace fathom::simulator {

struct SearchEffort {
  std::uint64_t moves = 200'000;  // tried at most
};

// Starts from `placement`, which is of request.hosts. The same seed gives the same result. The
// Error is the router's. Cost: for each move the links that the two ranks' messages pass.
base::Result<Placement> improve_placement(const MappingRequest& request, const RouterRow& router,
                                          Objective objective, Placement placement,
                                          const SearchEffort& effort = {});

// A mapper: the best of block, bisection and treematch by hop-bytes, improved on shortest ways.
base::Result<Placement> map_search(const MappingRequest& request);

}  // namespace fathom::simulator
