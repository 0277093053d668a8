// SPDX-License-Identifier: BSD-3-Clause
// Ways to choose hosts for a job; contract in placement.h.
#pragma once

#include "simulator/placement/placement.h"

namespace fathom::simulator {

// Best fit: the shortest run of free hosts, consecutive in the cluster's file, that holds the job
// (ties: the first). If no run does, takes the longest runs first.
std::vector<HostId> select_linear(const SelectionRequest& request);

// Hosts drawn uniformly without replacement, listed in the order of the cluster's file.
std::vector<HostId> select_random(const SelectionRequest& request);

}  // namespace fathom::simulator
