// SPDX-License-Identifier: BSD-3-Clause
// Recursive bisection (F. Ercal, J. Ramanujam, P. Sadayappan, Task allocation onto a hypercube by
// recursive mincut bipartitioning, 1990): hosts are halved where they are far from each other,
// ranks where little goes between them, and so on in both halves, down to single hosts.
//
// Ranks are halved by METIS, which only keeps near to the sizes asked for; the ranks too many in
// one half are those that lose least by going to the other. METIS stays in the .cpp.
#pragma once

#include "simulator/placement/placement.h"

namespace fathom::simulator {

// Whether Fathom was built with METIS. Without it map_bisection() is an Error.
bool has_bisection();

// Cost: METIS's, O(pairs * log(hosts)), and the hosts' distances.
base::Result<Placement> map_bisection(const MappingRequest& request);

}  // namespace fathom::simulator
