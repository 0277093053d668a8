// SPDX-License-Identifier: BSD-3-Clause
// Greedy routing on the load so far: demands are taken heaviest first (equally heavy ones in the
// order given), and each takes the shortest way whose links are least used, by bytes over capacity:
//   greedy-sum: the least sum over its links;
//   greedy-max: the least maximum over its links, the "dynamic" routing of Takahashi et al. (HPCMASPA
//   2017). Of ways with the same maximum, the one whose later links are less used.
// Ties go to the first in the order of ShortestPaths::Toward::choices, hop by hop from the source:
// on a two-level tree the reference simulator's order, which is that of the core switches.
//
// Links of hosts are no choice and do not count, except of hosts that have several.
// Cost for each demand: one look at every link that lies on any shortest way.
#pragma once

#include "simulator/routing/routing.h"

namespace fathom::simulator {

base::Result<std::unique_ptr<Router>> make_greedy_sum(const Network& network,
                                                      const RouterOptions& options);
base::Result<std::unique_ptr<Router>> make_greedy_max(const Network& network,
                                                      const RouterOptions& options);

}  // namespace fathom::simulator
