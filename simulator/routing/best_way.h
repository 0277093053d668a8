// SPDX-License-Identifier: BSD-3-Clause
// The cheapest of all shortest paths from one node to another: looks once at every link on any of
// them.
//
// Combine defines the cost of a path: combine(cost of a link, cost of the rest). The search goes
// backwards over the nodes in between, level by level; the best of each node is the choice with the
// least combined cost (ties: the first).
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "simulator/network/shortest_paths.h"
#include "simulator/routing/link_costs.h"

namespace fathom::simulator {

struct SumOfCosts {
  double operator()(double link, double rest) const { return link + rest; }
};
struct LargestCost {
  double operator()(double link, double rest) const { return std::max(link, rest); }
};

template <typename Combine>
class BestWay {
 public:
  explicit BestWay(const Network& network) : network_(network), states_(network.node_count()) {}

  // Appends the cheapest of the shortest paths from `source` to the host. False if there is none.
  bool append(HostId source, HostId destination, ShortestPaths& paths, const LinkCosts& costs,
              std::vector<LinkId>& way) {
    ShortestPaths::Toward& toward = paths.toward(paths.target_of(destination));
    if (source == destination) return true;
    collect(source, toward);
    if (states_[toward.target()].stamp != stamp_) return false;
    evaluate(toward, costs);
    for (NodeId at = source; at != toward.target(); at = network_.link(way.back()).target) {
      way.push_back(states_[at].link);
    }
    if (toward.target() != destination) way.push_back(cheapest_last(destination, costs));
    return true;
  }

 private:
  struct State {
    std::uint64_t stamp = 0;  // of the search that reached the node
    double cost = 0;          // from here to the target
    LinkId link = kNoId;      // first link of the best path
  };

  // All nodes on shortest paths, farthest first.
  void collect(NodeId source, ShortestPaths::Toward& toward) {
    ++stamp_;
    nodes_.assign(1, source);
    states_[source].stamp = stamp_;
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      if (nodes_[at] == toward.target()) continue;
      for (const LinkId link : toward.choices(nodes_[at])) {
        const NodeId to = network_.link(link).target;
        if (states_[to].stamp == stamp_) continue;
        states_[to].stamp = stamp_;
        nodes_.push_back(to);
      }
    }
  }

  void evaluate(ShortestPaths::Toward& toward, const LinkCosts& costs) {
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      State& state = states_[*node];
      state.cost = 0;
      if (*node == toward.target()) continue;
      state.cost = std::numeric_limits<double>::infinity();
      for (const LinkId link : toward.choices(*node)) {
        const double cost = combine_(costs.of(link), states_[network_.link(link).target].cost);
        if (cost >= state.cost) continue;
        state.cost = cost;
        state.link = link;
      }
    }
  }

  LinkId cheapest_last(HostId destination, const LinkCosts& costs) const {
    const std::span<const LinkId> links = network_.links_to(destination);
    return *std::min_element(links.begin(), links.end(), [&](LinkId left, LinkId right) {
      return costs.of(left) < costs.of(right);
    });
  }

  const Network& network_;
  Combine combine_;
  std::vector<State> states_;  // by node
  std::vector<NodeId> nodes_;
  std::uint64_t stamp_ = 0;
};

}  // namespace fathom::simulator
