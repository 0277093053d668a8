// SPDX-License-Identifier: BSD-3-Clause
// The links between the two halves of a cluster, which all traffic from one half to the other
// crosses.
//
// The hosts are halved in their order, by slots. The result is a minimum cut between the first half
// and the second (their hosts' own links included): the set of links with the least capacity that
// separates them, and among equal ones the set farthest from the hosts, which traffic within a half
// does not cross (L. Ford, D. Fulkerson 1956; found with E. Dinic's algorithm, 1970). The cut of
// the opposite direction is found likewise.
#pragma once

#include <vector>

#include "simulator/network/network.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

struct Bisection {
  std::vector<LinkId> links;  // both directions
  double capacity_Bps = 0;    // of all of them
};

// No bisection is sought in a network with more links: the flows take half a second for a torus of
// this size, and 13 times as long for each four times as many.
inline constexpr std::uint32_t kMostLinksOfBisection = 1 << 19;

// Cost: two maximum flows; near-linear on small networks. A cluster of one host has an empty
// bisection, and so has one with more than kMostLinksOfBisection links.
Bisection bisection_of(const Network& network);

}  // namespace fathom::simulator
