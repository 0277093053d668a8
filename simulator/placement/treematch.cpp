// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/treematch.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <queue>
#include <utility>

#include "base/order/sort_stably.h"
#include "simulator/jobs/rank_graph.h"

namespace fathom::simulator {
namespace {

using Group = std::vector<std::uint32_t>;

// Traffic between items: a symmetric sparse matrix.
class Items {
 public:
  explicit Items(const RankGraph& graph) : exchanged_(graph.rank_count()) {
    for (std::uint32_t rank = 0; rank < graph.rank_count(); ++rank) {
      for (const RankGraph::Neighbour& edge : graph.of(rank))
        exchanged_[rank][edge.rank] += edge.bytes;
    }
  }

  // Each group becomes an item.
  Items grouped(const std::vector<Group>& groups) const {
    std::vector<std::uint32_t> group_of(exchanged_.size(), 0);
    for (std::uint32_t group = 0; group < groups.size(); ++group) {
      for (const std::uint32_t item : groups[group]) group_of[item] = group;
    }
    Items result(groups.size());
    for (std::uint32_t item = 0; item < exchanged_.size(); ++item) {
      for (const auto& [other, bytes] : exchanged_[item]) {
        if (group_of[item] != group_of[other])
          result.exchanged_[group_of[item]][group_of[other]] += bytes;
      }
    }
    return result;
  }

  // Forms groups of these sizes, one after the other, each starting from the remaining item with
  // the most traffic.
  std::vector<Group> group(const std::vector<std::size_t>& sizes) const {
    std::vector<std::uint32_t> order(exchanged_.size());
    std::vector<double> total(exchanged_.size(), 0);
    for (std::uint32_t item = 0; item < order.size(); ++item) {
      order[item] = item;
      for (const auto& [other, bytes] : exchanged_[item]) total[item] += bytes;
    }
    base::sort_stably(order, [&](auto one, auto other) { return total[one] > total[other]; });
    std::vector<char> taken(exchanged_.size(), 0);
    std::vector<Group> groups;
    auto next = order.begin();
    for (const std::size_t size : sizes) {
      while (next != order.end() && taken[*next]) ++next;
      if (next == order.end()) break;
      groups.push_back(grow(*next, size, taken, next, order.end()));
    }
    return groups;
  }

 private:
  using Order = std::vector<std::uint32_t>::const_iterator;

  explicit Items(std::size_t count) : exchanged_(count) {}

  Group grow(std::uint32_t first, std::size_t size, std::vector<char>& taken, Order rest,
             Order end) const {
    Group group;
    std::map<std::uint32_t, double> pull;                             // of the group on the
                                                                      // remaining items
    std::priority_queue<std::pair<double, std::uint32_t>> strongest;  // may hold outdated entries
    const auto add = [&](std::uint32_t item) {
      group.push_back(item);
      taken[item] = 1;
      for (const auto& [other, bytes] : exchanged_[item]) {
        if (!taken[other]) strongest.emplace(pull[other] += bytes, other);
      }
    };
    for (add(first); group.size() < size;) {
      while (!strongest.empty() && (taken[strongest.top().second] ||
                                    strongest.top().first != pull[strongest.top().second])) {
        strongest.pop();
      }
      while (strongest.empty() && rest != end && taken[*rest]) ++rest;
      if (strongest.empty() && rest == end) break;
      add(strongest.empty() ? *rest : strongest.top().second);
    }
    return group;
  }

  std::vector<std::map<std::uint32_t, double>> exchanged_;  // by item
};

// Hosts by the switch of their first link, switches with the most hosts first.
std::vector<std::vector<HostId>> hosts_by_switch(const PlacementRequest& request) {
  std::map<NodeId, std::size_t> place;
  std::vector<std::vector<HostId>> result;
  for (const HostId host : request.hosts) {
    const auto links = request.network.links_from(host);
    const NodeId at = links.empty() ? host : request.network.link(links.front()).target;
    const auto [found, is_new] = place.try_emplace(at, result.size());
    if (is_new) result.emplace_back();
    result[found->second].push_back(host);
  }
  base::sort_stably(result,
                    [](const auto& one, const auto& other) { return one.size() > other.size(); });
  return result;
}

}  // namespace

base::Result<Placement> place_treematch(const PlacementRequest& request) {
  const auto switches = hosts_by_switch(request);
  std::vector<std::size_t> slots, hosts;
  for (const std::vector<HostId>& of_switch : switches) {
    hosts.push_back(of_switch.size());
    for (const HostId host : of_switch) slots.push_back(request.network.slots(host));
  }
  // If hosts differ in size, the largest are filled first, so that every group fits its host.
  std::sort(slots.rbegin(), slots.rend());
  const bool uneven = slots.front() != slots.back();
  const Items ranks{RankGraph(request.job)};
  const std::vector<Group> of_host = ranks.group(slots);
  Placement placement(static_cast<std::size_t>(request.job.ranks));
  if (uneven) {
    std::vector<HostId> order(request.hosts.begin(), request.hosts.end());
    base::sort_stably(order, [&](HostId one, HostId other) {
      return request.network.slots(one) > request.network.slots(other);
    });
    for (std::size_t group = 0; group < of_host.size(); ++group) {
      for (const std::uint32_t rank : of_host[group]) placement[rank] = order[group];
    }
    return placement;
  }
  const Items groups = ranks.grouped(of_host);
  const std::vector<Group> of_switch = groups.group(hosts);
  const std::vector<Group> order = groups.grouped(of_switch).group({of_switch.size()});
  std::vector<char> used(switches.size(), 0);
  for (const std::uint32_t group : order.empty() ? Group{} : order.front()) {
    // The first unused switch of the same size; of_switch[g] was formed for the size of switch g.
    std::size_t at = 0;
    while (used[at] || switches[at].size() != switches[group].size()) ++at;
    used[at] = 1;
    for (std::size_t host = 0; host < of_switch[group].size(); ++host) {
      for (const std::uint32_t rank : of_host[of_switch[group][host]])
        placement[rank] = switches[at][host];
    }
  }
  return placement;
}

}  // namespace fathom::simulator
