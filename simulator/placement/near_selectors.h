// SPDX-License-Identifier: BSD-3-Clause
// Selections by the switch that a host is linked to (its first link, if it has several). Contract:
// simulator/placement/placement.h.
#pragma once

#include <vector>

#include "simulator/placement/placement.h"

namespace fathom::simulator {

// As few switches as possible, near each other. If one switch can hold the job: the one that would
// have the fewest free slots left. Otherwise, starting from every switch with free hosts, the
// others are added nearest first (hops over links between switches), ties by most free slots. The
// start that needs the fewest switches wins, then the smallest sum of distances, then the fewest
// slots left over. Cost: O(switches with hosts * links).
std::vector<HostId> select_switches(const SelectionRequest& request);

// Among the runs of consecutive free hosts (in the order of the cluster's file) that are just long
// enough for the job, the one that touches the fewest switches; ties: the first. Falls back on
// select_switches.
std::vector<HostId> select_contiguous(const SelectionRequest& request);

// One free host of each switch in turn.
std::vector<HostId> select_fragmented(const SelectionRequest& request);

}  // namespace fathom::simulator
