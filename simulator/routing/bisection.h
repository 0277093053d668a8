// SPDX-License-Identifier: BSD-3-Clause
// The links between the two halves of a cluster: what traffic from one half to the other must pass.
//
// Halves are taken in the order of the hosts, by slots. Of all sets of links that separate the
// first half from the second (their hosts' own links included), a minimum cut is taken: the one
// with the least capacity, and of equal ones the one farthest from the hosts: what stays within a
// half does not pass it (L. Ford, D. Fulkerson 1956; found with E. Dinic's algorithm, 1970). The
// cut of the opposite direction is found likewise.
#pragma once

#include <vector>

#include "simulator/network/network.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

struct Bisection {
  std::vector<LinkId> links;  // both directions
  double capacity_Bps = 0;    // of them all
};

// Cost: that of two maximum flows; near-linear on the networks of the field. A cluster of one host
// has an empty bisection.
Bisection bisection_of(const Network& network);

}  // namespace fathom::simulator
