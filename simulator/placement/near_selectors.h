// SPDX-License-Identifier: BSD-3-Clause
// Selections that look at the switches which hosts are linked to (of several: the first link's).
// Contract: simulator/placement/placement.h.
#pragma once

#include <vector>

#include "simulator/placement/placement.h"

namespace fathom::simulator {

// As few switches as possible, near to each other. If one switch holds the job: the one that would
// have the fewest free slots left. Else, starting from every switch with free hosts, the others are
// added nearest first (hops over links between switches), at equal distance those with most free
// slots; the start that needs the fewest switches wins, then the one with the least sum of
// distances, then the fewest slots left over. Cost: O(switches with hosts * links).
std::vector<HostId> select_switches(const SelectionRequest& request);

// Among the runs of consecutive free hosts (in the order of the cluster's file) that just hold the
// job, the one that touches the fewest switches, the first of several. Without one:
// select_switches.
std::vector<HostId> select_contiguous(const SelectionRequest& request);

// One free host of each switch in turn.
std::vector<HostId> select_fragmented(const SelectionRequest& request);

}  // namespace fathom::simulator
