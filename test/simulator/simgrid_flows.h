// SPDX-License-Identifier: BSD-3-Clause
// The same flows on the same links and routes, simulated by SimGrid (S4U).
#pragma once

#include <vector>

#include "test/simulator/plain_networks.h"

namespace fathom::test {

// How SimGrid shares links. In its model a flow's weight is 1 / latency of its route (H. Casanova,
// L. Marchal, A network model for simulation of grid application, INRIA RR-4596, 2002). For kEqual
// the links have no latency, and all routes have one more link in common, of which every flow gets
// the whole bandwidth, with `latency_s`: then all weights are the same.
struct SimgridSharing {
  Sharing sharing = Sharing::kByInverseLatency;
  double latency_s = 0;
};

// When each flow ends. Only once in a process: SimGrid's engine is global. `seconds`, if given,
// receives the processor time of the simulation itself, without building the platform.
std::vector<double> ends_by_simgrid(const PlainNetwork& network,
                                    const std::vector<PlainFlow>& flows, SimgridSharing sharing,
                                    double* seconds = nullptr);

}  // namespace fathom::test
