// SPDX-License-Identifier: BSD-3-Clause
// Routings that take detours to spread load, for networks with few shortest paths.
//
//   valiant: over a switch drawn for each demand (Valiant, Brebner: Universal schemes for parallel
//            communication, 1981); shortest paths to and from it, drawn hop by hop
//   ugal:    after UGAL with global knowledge (Singh: Load-balanced routing in interconnection
//            networks, 2005). Demands heaviest first. Among four shortest paths and four paths
//            over a drawn switch, takes the one with the least sum of loads (bytes over capacity)
//            over its links; ties: shortest paths first. The loads are those of the demands routed
//            before: a static stand-in for queue lengths
#pragma once

#include "simulator/routing/routing.h"

namespace fathom::simulator {

base::Result<std::unique_ptr<Router>> make_valiant(const Network& network,
                                                   const RouterOptions& options);
base::Result<std::unique_ptr<Router>> make_ugal(const Network& network,
                                                const RouterOptions& options);

}  // namespace fathom::simulator
