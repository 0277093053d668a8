// SPDX-License-Identifier: BSD-3-Clause
// Routing along shortest paths where each hop is chosen from the demand alone, not from the load.
//
// route_hop_by_hop() processes the demands target by target (not in their given order), so that
// cached knowledge about a target serves all its demands. It calls choose.start(const Demand&)
// before the first hop of each demand, and at every hop with a choice
//
//   std::uint32_t choose(const Demand&, NodeId at, std::uint32_t choices)   → below `choices`
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "simulator/network/shortest_paths.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

// Cache size that suffices for a router that processes one target after the other.
inline constexpr std::size_t kOneTargetBytes = std::size_t{64} << 20;

// The Error for a demand that cannot be routed.
base::Error no_way(const Network& network, NodeId source, NodeId destination);

// Appends a shortest path from `from` to the target. False if there is none.
template <typename Choose>
bool append_way(const Demand& demand, NodeId from, ShortestPaths::Toward& toward,
                const Network& network, Choose& choose, std::vector<LinkId>& way) {
  for (NodeId at = from; at != toward.target(); at = network.link(way.back()).target) {
    const std::span<const LinkId> choices = toward.choices(at);
    if (choices.empty()) return false;
    const auto count = static_cast<std::uint32_t>(choices.size());
    way.push_back(choices[count == 1 ? 0 : choose(demand, at, count)]);
  }
  return true;
}

// Appends the last hop, from the target to the destination, if they differ.
template <typename Choose>
void append_last_hop(const Demand& demand, NodeId target, const Network& network, Choose& choose,
                     std::vector<LinkId>& way) {
  if (target == demand.destination) return;
  const std::span<const LinkId> links = network.links_to(demand.destination);
  const auto count = static_cast<std::uint32_t>(links.size());
  way.push_back(links[count == 1 ? 0 : choose(demand, target, count)]);
}

// Indices of the demands, grouped by target.
std::vector<std::uint32_t> order_by_target(std::span<const Demand> demands,
                                           const ShortestPaths& paths);

template <typename Choose>
base::Status route_hop_by_hop(std::span<const Demand> demands, ShortestPaths& paths, Choose choose,
                              RouteSink& sink) {
  const Network& network = paths.network();
  std::vector<LinkId> way;
  for (const std::uint32_t index : order_by_target(demands, paths)) {
    const Demand& demand = demands[index];
    way.clear();
    if (demand.source != demand.destination) {
      ShortestPaths::Toward& toward = paths.toward(paths.target_of(demand.destination));
      choose.start(demand);
      if (!append_way(demand, demand.source, toward, network, choose, way)) {
        return no_way(network, demand.source, demand.destination);
      }
      append_last_hop(demand, toward.target(), network, choose, way);
    }
    sink.take(index, way, 1);
  }
  return base::Done{};
}

}  // namespace fathom::simulator
