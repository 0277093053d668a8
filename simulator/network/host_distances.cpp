// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/network/host_distances.h"

#include <algorithm>

namespace fathom::simulator {

std::vector<std::uint32_t> hops_from(const Network& network, NodeId start) {
  std::vector<std::uint32_t> hops(network.node_count(), kNoId);
  std::vector<NodeId> reached = {start};
  hops[start] = 0;
  for (std::size_t at = 0; at < reached.size(); ++at) {
    if (reached[at] != start && !network.forwards(reached[at])) continue;
    for (const LinkId link : network.links_from(reached[at])) {
      const NodeId next = network.link(link).target;
      if (hops[next] != kNoId) continue;
      hops[next] = hops[reached[at]] + 1;
      reached.push_back(next);
    }
  }
  return hops;
}

HostDistances::HostDistances(const Network& network, std::span<const HostId> hosts)
    : count_(hosts.size()), hops_(hosts.size() * hosts.size()) {
  for (std::size_t one = 0; one < count_; ++one) {
    const std::vector<std::uint32_t> hops = hops_from(network, hosts[one]);
    for (std::size_t other = 0; other < count_; ++other)
      hops_[one * count_ + other] =
          static_cast<std::uint16_t>(std::min<std::uint32_t>(hops[hosts[other]], kNoPath));
  }
}

HostDistances HostDistances::equal(std::size_t hosts) {
  HostDistances result(hosts);
  for (std::size_t host = 0; host < hosts; ++host) result.hops_[host * hosts + host] = 0;
  return result;
}

}  // namespace fathom::simulator
