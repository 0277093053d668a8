// SPDX-License-Identifier: BSD-3-Clause
// Routing along shortest ways where each hop is chosen by looking at this demand alone.
//
// route_hop_by_hop() takes the demands target by target (not in their own order), so that what is
// known about one target is used for all demands to it. Choose is called at every hop that has a
// choice:
//   std::uint32_t operator()(const Demand&, NodeId at, std::uint32_t choices)  → below `choices`
// and start(const Demand&) before the first hop of each demand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "simulator/network/shortest_paths.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

// Enough for the ShortestPaths of a router that takes one target after the other.
inline constexpr std::size_t kOneTargetBytes = std::size_t{64} << 20;

// The Error for a demand that cannot be routed.
base::Error no_way(const Network& network, NodeId source, NodeId destination);

// Appends a shortest way from `from` to the target. False if there is none.
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

// The last hop, from the target to the destination, where they differ.
template <typename Choose>
void append_last_hop(const Demand& demand, NodeId target, const Network& network, Choose& choose,
                     std::vector<LinkId>& way) {
  if (target == demand.destination) return;
  const std::span<const LinkId> links = network.links_to(demand.destination);
  const auto count = static_cast<std::uint32_t>(links.size());
  way.push_back(links[count == 1 ? 0 : choose(demand, target, count)]);
}

// Indices of the demands, those to the same target next to each other.
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
