// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/bisection.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fathom::simulator {
namespace {

// A host's link is widened by this fraction, links farther from hosts by less. This decides only
// between equal cuts.
constexpr double kPreference = 1e-6;

// Hops from the nearest host.
std::vector<std::uint32_t> heights_of(const Network& network) {
  std::vector<std::uint32_t> heights(network.node_count(), kNoId);
  std::vector<NodeId> reached;
  for (HostId host = 0; host < network.host_count(); ++host) {
    heights[host] = 0;
    reached.push_back(host);
  }
  for (std::size_t at = 0; at < reached.size(); ++at) {
    for (const LinkId link : network.links_from(reached[at])) {
      const NodeId next = network.link(link).target;
      if (heights[next] != kNoId) continue;
      heights[next] = heights[reached[at]] + 1;
      reached.push_back(next);
    }
  }
  return heights;
}

// Dinic's algorithm. Two extra nodes are the source and the sink of the flow.
class MinimumCut {
 public:
  explicit MinimumCut(const Network& network)
      : network_(network), feed_(network.node_count()), drain_(feed_ + 1), arcs_from_(drain_ + 1) {
    const std::vector<std::uint32_t> heights = heights_of(network);
    for (const Link& link : network.links()) {
      const double height = std::min(heights[link.source], heights[link.target]);
      add(link.source, link.target, link.capacity_Bps * (1 + kPreference / (1 + height)));
    }
  }

  // Marks what the feed still reaches once no more can flow.
  std::vector<char> side_of(const std::vector<char>& is_first, bool from_first) {
    double all = 0;
    for (const Link& link : network_.links()) all += link.capacity_Bps;
    least_ = all * 1e-12;
    for (HostId host = 0; host < network_.host_count(); ++host) {
      if ((is_first[host] != 0) == from_first) {
        add(feed_, host, all);
      } else {
        add(host, drain_, all);
      }
    }
    while (level()) {
      next_.assign(arcs_from_.size(), 0);
      while (push() > 0) {
      }
    }
    std::vector<char> reached(network_.node_count());
    for (NodeId node = 0; node < network_.node_count(); ++node)
      reached[node] = level_[node] != kNoId;
    return reached;
  }

 private:
  struct Arc {
    std::uint32_t to;
    double room;
  };

  void add(std::uint32_t from, std::uint32_t to, double capacity) {
    arcs_from_[from].push_back(static_cast<std::uint32_t>(arcs_.size()));
    arcs_.push_back({to, capacity});
    arcs_from_[to].push_back(static_cast<std::uint32_t>(arcs_.size()));
    arcs_.push_back({from, 0});
  }

  bool level() {
    level_.assign(arcs_from_.size(), kNoId);
    level_[feed_] = 0;
    std::vector<std::uint32_t> reached = {feed_};
    for (std::size_t at = 0; at < reached.size(); ++at) {
      for (const std::uint32_t arc : arcs_from_[reached[at]]) {
        if (arcs_[arc].room <= least_ || level_[arcs_[arc].to] != kNoId) continue;
        level_[arcs_[arc].to] = level_[reached[at]] + 1;
        reached.push_back(arcs_[arc].to);
      }
    }
    return level_[drain_] != kNoId;
  }

  // Pushes along one path from feed to drain, each hop one level on. Not recursive: paths may be
  // long.
  double push() {
    std::vector<std::uint32_t> way;
    std::uint32_t node = feed_;
    while (node != drain_) {
      std::uint32_t& next = next_[node];
      while (next < arcs_from_[node].size() && !leads_on(arcs_from_[node][next], node)) ++next;
      if (next < arcs_from_[node].size()) {
        way.push_back(arcs_from_[node][next]);
        node = arcs_[way.back()].to;
        continue;
      }
      if (way.empty()) return 0;
      node = arcs_[way.back() ^ 1].to;  // a dead end: go back, and never return here
      way.pop_back();
      ++next_[node];
    }
    double amount = arcs_[way.front()].room;
    for (const std::uint32_t arc : way) amount = std::min(amount, arcs_[arc].room);
    for (const std::uint32_t arc : way) {
      arcs_[arc].room -= amount;
      arcs_[arc ^ 1].room += amount;
    }
    return amount;
  }

  bool leads_on(std::uint32_t arc, std::uint32_t from) const {
    return arcs_[arc].room > least_ && level_[arcs_[arc].to] == level_[from] + 1;
  }

  const Network& network_;
  std::uint32_t feed_, drain_;
  std::vector<std::vector<std::uint32_t>> arcs_from_;  // by node; the opposite of arc a is a ^ 1
  std::vector<Arc> arcs_;
  std::vector<std::uint32_t> level_, next_;
  double least_ = 0;  // smaller remaining capacities are rounding
};

std::vector<char> first_half(const Network& network) {
  std::vector<char> is_first(network.host_count(), 0);
  std::uint64_t slots = 0;
  for (HostId host = 0; host + 1 < network.host_count() && 2 * slots < network.total_slots();
       ++host) {
    is_first[host] = 1;
    slots += network.slots(host);
  }
  return is_first;
}

}  // namespace

Bisection bisection_of(const Network& network) {
  if (network.link_count() > kMostLinksOfBisection) return {};
  Bisection result;
  if (network.host_count() < 2) return result;
  const std::vector<char> is_first = first_half(network);
  for (const bool from_first : {true, false}) {
    MinimumCut cut(network);
    const std::vector<char> near = cut.side_of(is_first, from_first);
    for (LinkId id = 0; id < network.link_count(); ++id) {
      const Link& link = network.link(id);
      if (!near[link.source] || near[link.target]) continue;
      result.links.push_back(id);
      result.capacity_Bps += link.capacity_Bps;
    }
  }
  return result;
}

}  // namespace fathom::simulator
