// SPDX-License-Identifier: BSD-3-Clause
// Ways to distribute a job's processes over its hosts; contract in placement.h.
#pragma once

#include "simulator/placement/placement.h"

namespace fathom::simulator {

// Fills one host after the other.
base::Result<Placement> place_block(const PlacementRequest& request);

// Gives one process to each host in turn, skipping full hosts.
base::Result<Placement> place_cyclic(const PlacementRequest& request);

// Block over the hosts in random order.
base::Result<Placement> place_random(const PlacementRequest& request);

}  // namespace fathom::simulator
