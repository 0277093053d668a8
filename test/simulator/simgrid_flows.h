// The same flows on the same links and routes, simulated by SimGrid (S4U).
#pragma once

#include <vector>

#include "test/simulator/plain_networks.h"

namespace fathom::test {

// Which flows SimGrid shares a link equally between. In its CM02 model a flow's weight is 1 /
// latency of its route (M. Casanova, L. Marchal, A network model for simulation of grid
// application, RR-4596, 2002). With kEqual, links have no latency; every route gets a private link
// that has all of it, the same for every flow: `latency_s`.
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
