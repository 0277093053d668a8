// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/distance/place_costs.h"

#include <algorithm>
#include <set>

#include "base/disjoint_sets.h"

namespace fathom::simulator {
namespace {

std::vector<HostGroup> groups_of(base::DisjointSets& joined, std::size_t hosts) {
  std::vector<HostGroup> groups(joined.sets());
  const std::vector<std::uint32_t> number = joined.numbered();
  for (std::uint32_t host = 0; host < hosts; ++host) groups[number[host]].push_back(host);
  return groups;
}

std::vector<std::vector<HostGroup>> levels_of(const HostDistances& distances) {
  const std::size_t hosts = distances.count();
  std::set<std::uint16_t> lengths;
  for (std::size_t host = 1; host < hosts; ++host) lengths.insert(distances.between(0, host));
  std::vector<std::vector<HostGroup>> levels;
  base::DisjointSets joined(hosts);
  for (const std::uint16_t length : lengths) {
    const std::size_t before = joined.sets();
    for (std::uint32_t host = 0; host < hosts; ++host) {
      const auto row = distances.from(host);
      for (std::uint32_t other = 0; other < hosts; ++other) {
        if (row[other] <= length) joined.join(host, other);
      }
    }
    if (joined.sets() == 1) break;
    if (joined.sets() < before) levels.push_back(groups_of(joined, hosts));
  }
  return levels;
}

}  // namespace

PlaceCosts::PlaceCosts(const Network& of, const Job& job, std::span<const HostId> usable,
                       PlaceMetric metric)
    : network(of),
      hosts(usable.begin(), usable.end()),
      graph(job),
      distances(metric == PlaceMetric::kHops ? HostDistances(of, usable)
                                             : HostDistances::equal(usable.size())),
      levels(levels_of(distances)) {
  for (const HostId host : hosts) slots.push_back(network.slots(host));
}

double PlaceCosts::of(const Places& places) const {
  double sum = 0;
  for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
    const auto row = distances.from(places[rank]);
    for (const RankGraph::Neighbour& edge : graph.of(rank)) {
      // Each pair is in the lists of both ranks, and must count once.
      if (rank < edge.rank) sum += edge.bytes * row[places[edge.rank]];
    }
  }
  return sum;
}

std::vector<std::uint32_t> nearest_hosts(const HostDistances& distances, std::uint32_t host,
                                         std::size_t count, base::Random& random) {
  const auto row = distances.from(host);
  std::vector<std::uint64_t> order(row.size());
  for (std::uint32_t other = 0; other < row.size(); ++other)
    order[other] = std::uint64_t{row[other]} << 48 | (random.next() & 0xffff) << 32 | other;
  count = std::min(count, order.size());
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count - 1),
                   order.end());
  std::vector<std::uint32_t> nearest;
  for (std::size_t at = 0; at < count; ++at)
    nearest.push_back(static_cast<std::uint32_t>(order[at]));
  return nearest;
}

std::vector<HostId> PlaceCosts::hosts_of(const Places& places) const {
  std::vector<HostId> placement;
  placement.reserve(places.size());
  for (const std::uint32_t place : places) placement.push_back(hosts[place]);
  return placement;
}

base::Result<Places> PlaceCosts::places_of(std::span<const HostId> placement) const {
  std::vector<std::uint32_t> index(network.host_count(), kNoId);
  for (std::uint32_t at = 0; at < hosts.size(); ++at) index[hosts[at]] = at;
  Places places;
  places.reserve(placement.size());
  for (const HostId host : placement) {
    if (index[host] == kNoId)
      return base::Error{"the placement to improve uses a host that is not among the chosen hosts"};
    places.push_back(index[host]);
  }
  return places;
}

}  // namespace fathom::simulator
