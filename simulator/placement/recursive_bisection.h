// SPDX-License-Identifier: BSD-3-Clause
// Recursive bisection (F. Ercal, J. Ramanujam, P. Sadayappan, Task allocation onto a hypercube by
// recursive mincut bipartitioning, 1990): splits the hosts where they are far apart and the ranks
// where little traffic crosses, then recurses into both halves down to single hosts.
//
// METIS splits the ranks, but only approximates the sizes asked for; the surplus ranks of one half
// that lose least move to the other. METIS stays in the .cpp.
#pragma once

#include "simulator/placement/placement.h"

namespace fathom::simulator {

// Whether Fathom was built with METIS. Without it place_bisection() is an Error.
bool has_bisection();

// Cost: METIS's, O(pairs * log(hosts)), plus computing the hosts' distances.
base::Result<Placement> place_bisection(const PlacementRequest& request);

}  // namespace fathom::simulator
