// SPDX-License-Identifier: BSD-3-Clause
// Routings that go out of their way to spread load, for networks with few shortest ways.
//
//   valiant: over a switch drawn for each demand (Valiant, Brebner: Universal schemes for parallel
//            communication, 1981), by shortest ways drawn hop by hop to it and from it
//   ugal:    after UGAL with global knowledge (Singh: Load-balanced routing in interconnection
//            networks, 2005): demands heaviest first; of four shortest ways and four ways over a drawn
//            switch, the one with the least sum of loads (bytes over capacity) over its links, shortest
//            ways first among equals. A static stand-in for queue lengths: loads are those of the
//            demands routed before
#pragma once

#include "simulator/routing/routing.h"

namespace fathom::simulator {

base::Result<std::unique_ptr<Router>> make_valiant(const Network& network,
                                                   const RouterOptions& options);
base::Result<std::unique_ptr<Router>> make_ugal(const Network& network,
                                                const RouterOptions& options);

}  // namespace fathom::simulator
