// SPDX-License-Identifier: BSD-3-Clause
// Shortest paths that depend only on the demand itself.
//
//   minimal: the first choice at every hop, as in a network without multipath routing
//   random:  a random choice at every hop, drawn anew for each pair of hosts
//   ecmp:    each switch hashes the flow (the two hosts and the pair of processes) with a seed of
//            its own, so the flows of one pair of hosts spread over the paths
#pragma once

#include "simulator/routing/routing.h"

namespace fathom::simulator {

base::Result<std::unique_ptr<Router>> make_minimal(const Network& network,
                                                   const RouterOptions& options);
base::Result<std::unique_ptr<Router>> make_random(const Network& network,
                                                  const RouterOptions& options);
base::Result<std::unique_ptr<Router>> make_ecmp(const Network& network,
                                                const RouterOptions& options);

}  // namespace fathom::simulator
