// SPDX-License-Identifier: BSD-3-Clause
// The ways of spreading a job's processes over its hosts; contract in placement.h.
#pragma once

#include "simulator/placement/placement.h"

namespace fathom::simulator {

// Fills one host after the other.
base::Result<Placement> map_block(const MappingRequest& request);

// Deals the processes out one to each host in turn, passing over hosts that are full.
base::Result<Placement> map_cyclic(const MappingRequest& request);

// Block over the hosts in random order.
base::Result<Placement> map_random(const MappingRequest& request);

}  // namespace fathom::simulator
