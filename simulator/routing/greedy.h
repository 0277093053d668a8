// SPDX-License-Identifier: BSD-3-Clause
// Greedy routing on the load so far. Demands are routed heaviest first (equally heavy ones in the
// order given); each takes the shortest path whose links are least used, in bytes over capacity:
//
//   greedy-sum: the least sum over its links
//   greedy-max: the least maximum over its links, the "dynamic" routing of Takahashi et al.
//               (HPCMASPA 2017). Among paths with the same maximum, the one whose later links are
//               less used
//
// Ties go to the first in the order of ShortestPaths::Toward::choices, hop by hop from the source.
// On a two-level tree this is the reference simulator's order, that of the core switches.
//
// Links of hosts do not count because they leave no choice, except for hosts with several links.
// Cost per demand: one look at every link on any shortest path.
#pragma once

#include "simulator/routing/routing.h"

namespace fathom::simulator {

base::Result<std::unique_ptr<Router>> make_greedy_sum(const Network& network,
                                                      const RouterOptions& options);
base::Result<std::unique_ptr<Router>> make_greedy_max(const Network& network,
                                                      const RouterOptions& options);

}  // namespace fathom::simulator
