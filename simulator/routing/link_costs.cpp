// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/link_costs.h"

#include <algorithm>
#include <numeric>

#include "base/order/sort_stably.h"

namespace fathom::simulator {
namespace {

bool has_one_neighbour(const Network& network, NodeId node) {
  const std::span<const LinkId> links = network.links_from(node);
  return std::all_of(links.begin(), links.end(), [&](LinkId link) {
    return network.link(link).target == network.link(links.front()).target;
  });
}

}  // namespace

LinkCosts::LinkCosts(const Network& network)
    : per_byte_(network.link_count(), 0.0), cost_(network.link_count(), 0.0) {
  double fastest = 0;
  for (const Link& link : network.links()) fastest = std::max(fastest, link.capacity_Bps);
  std::vector<char> is_leaf(network.node_count(), 0);
  for (HostId host = 0; host < network.host_count(); ++host) {
    is_leaf[host] = has_one_neighbour(network, host);
  }
  for (LinkId id = 0; id < network.link_count(); ++id) {
    const Link& link = network.link(id);
    if (is_leaf[link.source] || is_leaf[link.target]) continue;
    per_byte_[id] = fastest / link.capacity_Bps;
  }
}

void LinkCosts::start(const LinkUse& background) {
  for (LinkId link = 0; link < cost_.size(); ++link) {
    cost_[link] = background.bytes[link] * per_byte_[link];
  }
}

std::vector<std::uint32_t> order_by_weight(std::span<const Demand> demands) {
  std::vector<std::uint32_t> order(demands.size());
  std::iota(order.begin(), order.end(), 0u);
  base::sort_stably(order, [&](std::uint32_t left, std::uint32_t right) {
    return demands[left].bytes > demands[right].bytes;
  });
  return order;
}

}  // namespace fathom::simulator
