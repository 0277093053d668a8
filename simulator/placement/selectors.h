// SPDX-License-Identifier: BSD-3-Clause
// The ways of choosing hosts for a job; contract in placement.h.
#pragma once

#include "simulator/placement/placement.h"

namespace fathom::simulator {

// Best fit: of the runs of free hosts that are consecutive in the cluster's file, the shortest that
// holds the job (the first of equally long ones); if none does, the longest runs first.
std::vector<HostId> select_linear(const SelectionRequest& request);

// Hosts drawn evenly without replacement, in the order of the cluster's file.
std::vector<HostId> select_random(const SelectionRequest& request);

}  // namespace fathom::simulator
