// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/hop_by_hop.h"

namespace fathom::simulator {

base::Error no_way(const Network& network, NodeId source, NodeId destination) {
  return {"there is no path from '" + network.node_name(source) + "' to '" +
          network.node_name(destination) + "' in '" + network.name() +
          "'; check the cluster's links, in both directions"};
}

std::vector<std::uint32_t> order_by_target(std::span<const Demand> demands,
                                           const ShortestPaths& paths) {
  // A counting sort, which keeps the order of demands to the same target.
  std::vector<std::uint32_t> next(paths.network().node_count() + 1, 0);
  for (const Demand& demand : demands) ++next[paths.target_of(demand.destination) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::uint32_t> order(demands.size());
  for (std::uint32_t index = 0; index < demands.size(); ++index) {
    order[next[paths.target_of(demands[index].destination)]++] = index;
  }
  return order;
}

}  // namespace fathom::simulator
