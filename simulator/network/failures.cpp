// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/network/failures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "base/random.h"

namespace fathom::simulator {

base::Result<Network> without_links(const Network& network, std::span<const LinkId> failed) {
  std::vector<char> is_failed(network.link_count(), 0);
  for (const LinkId link : failed) is_failed[link] = 1;
  NetworkBuilder builder(network.name());
  for (NodeId node = 0; node < network.node_count(); ++node) builder.add_copy(network, node);
  for (LinkId id = 0; id < network.link_count(); ++id) {
    const Link& link = network.link(id);
    if (is_failed[id]) continue;
    builder.add_link(link.source, link.target, link.capacity_Bps, link.latency_s, link.port);
  }
  // Keep the grid: dimension order routing still needs the coordinates.
  if (network.grid()) builder.set_grid(*network.grid());
  return builder.build();
}

base::Result<std::vector<LinkId>> find_cables(const Network& network, const std::string& ends) {
  const std::size_t equals = ends.find('=');
  if (equals == std::string::npos) {
    return base::Error{"'" + ends + "' names no cable; give its two ends as A=B"};
  }
  NodeId nodes[2];
  const std::string names[2] = {ends.substr(0, equals), ends.substr(equals + 1)};
  for (int end = 0; end < 2; ++end) {
    nodes[end] = network.find_node(names[end]);
    if (nodes[end] == kNoId) {
      return base::Error{"'" + network.name() + "' has no node '" + names[end] + "'"};
    }
  }
  std::vector<LinkId> found;
  for (int end = 0; end < 2; ++end) {
    for (const LinkId link : network.links_from(nodes[end])) {
      if (network.link(link).target == nodes[1 - end]) found.push_back(link);
    }
  }
  if (found.empty()) {
    return base::Error{"'" + names[0] + "' and '" + names[1] + "' are not linked in '" +
                       network.name() + "'"};
  }
  return found;
}

std::vector<LinkId> draw_cables(const Network& network, double share, std::uint64_t seed) {
  // The k-th link from A to B and the k-th from B to A form one cable.
  std::map<std::pair<NodeId, NodeId>, std::vector<LinkId>> links;
  for (LinkId id = 0; id < network.link_count(); ++id) {
    if (network.joins_switches(id)) {
      links[{network.link(id).source, network.link(id).target}].push_back(id);
    }
  }
  std::vector<std::vector<LinkId>> cables;
  for (const auto& [ends, there] : links) {
    const auto back = links.find({ends.second, ends.first});
    const std::size_t pairs = back == links.end() ? 0 : back->second.size();
    for (std::size_t at = 0; at < there.size(); ++at) {
      if (at >= pairs) {
        cables.push_back({there[at]});
      } else if (ends.first < ends.second) {
        cables.push_back({there[at], back->second[at]});
      }
    }
  }
  const auto wanted =
      static_cast<std::size_t>(std::floor(share * static_cast<double>(cables.size())));
  base::Random random(seed);
  std::vector<LinkId> failed;
  for (std::size_t at = 0; at < std::min(wanted, cables.size()); ++at) {
    std::swap(cables[at], cables[at + random.below(cables.size() - at)]);
    failed.insert(failed.end(), cables[at].begin(), cables[at].end());
  }
  return failed;
}

}  // namespace fathom::simulator
