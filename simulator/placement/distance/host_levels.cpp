// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/distance/host_levels.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>

#include "base/order/sort_stably.h"

namespace fathom::simulator {
namespace {

using Key = std::vector<std::uint32_t>;  // of a host: by level, outermost first

// On a grid: coordinates, renumbered where the hosts leave some out. In a tree: groups.
std::vector<Key> keys_of(const PlaceCosts& costs) {
  HostCoordinates keys = grid_coordinates(costs);
  if (!keys.empty()) return keys;
  keys.resize(costs.hosts.size());
  for (auto level = costs.levels.rbegin(); level != costs.levels.rend(); ++level) {
    for (std::uint32_t group = 0; group < level->size(); ++group) {
      for (const std::uint32_t host : (*level)[group]) keys[host].push_back(group);
    }
  }
  return keys;
}

}  // namespace

HostCoordinates grid_coordinates(const PlaceCosts& costs) {
  const Network& network = costs.network;
  const Grid* grid = network.grid();
  if (grid == nullptr) return {};
  const NodeId first = network.node_count() - grid->points();
  HostCoordinates coordinates;
  for (const HostId host : costs.hosts) {
    const auto links = network.links_from(host);
    if (links.size() != 1 || network.link(links.front()).target < first) return {};
    coordinates.push_back(grid->coordinates(network.link(links.front()).target - first));
  }
  return coordinates;
}

std::size_t cut_by_plane(HostGroup& hosts, const HostCoordinates& coordinates) {
  if (coordinates.empty()) return 0;
  std::size_t longest = 0, most = 1;
  for (std::size_t dimension = 0; dimension < coordinates.front().size(); ++dimension) {
    std::vector<std::uint32_t> values;
    for (const std::uint32_t host : hosts) values.push_back(coordinates[host][dimension]);
    std::sort(values.begin(), values.end());
    const auto distinct =
        static_cast<std::size_t>(std::unique(values.begin(), values.end()) - values.begin());
    if (distinct > most) most = distinct, longest = dimension;
  }
  if (most == 1) return 0;
  base::sort_stably(hosts, [&](std::uint32_t one, std::uint32_t other) {
    return coordinates[one][longest] < coordinates[other][longest];
  });
  const std::size_t middle = hosts.size() / 2;
  for (std::size_t off = 0;; ++off) {
    for (const std::size_t at : {middle - std::min(off, middle), middle + off}) {
      if (at == 0 || at >= hosts.size()) continue;
      if (coordinates[hosts[at - 1]][longest] != coordinates[hosts[at]][longest]) return at;
    }
  }
}

std::optional<HostLevels> host_levels(const PlaceCosts& costs) {
  const std::vector<Key> keys = keys_of(costs);
  std::vector<std::uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  base::sort_stably(
      order, [&](std::uint32_t one, std::uint32_t other) { return keys[one] < keys[other]; });
  HostLevels levels;
  // Extents are counted on the way down; in a box, prefixes of keys are as many as their product.
  std::size_t points = 1;
  for (std::size_t level = 0; level < keys.front().size(); ++level) {
    std::set<Key> prefixes;
    for (const Key& key : keys)
      prefixes.emplace(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(level) + 1);
    if (prefixes.size() % points != 0) return std::nullopt;
    levels.extent.push_back(static_cast<std::uint32_t>(prefixes.size() / points));
    points = prefixes.size();
  }
  if (keys.size() % points != 0) return std::nullopt;
  levels.extent.push_back(static_cast<std::uint32_t>(keys.size() / points));
  levels.extent.push_back(costs.slots.front());
  for (const std::uint32_t host : order) {
    if (costs.slots[host] != costs.slots.front()) return std::nullopt;
    levels.host_at.insert(levels.host_at.end(), costs.slots[host], host);
  }
  // The same number of children everywhere: each position in the order has the keys that a box gives.
  std::map<Key, std::size_t> children;
  for (const Key& key : std::set<Key>(keys.begin(), keys.end())) {
    for (std::size_t level = 0; level < key.size(); ++level)
      ++children[Key(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(level) + 1)];
  }
  std::vector<std::size_t> below(keys.front().size() + 1, 1);
  for (std::size_t level = keys.front().size(); level-- > 1;)
    below[level - 1] = below[level] * levels.extent[level];
  for (const auto& [key, count] : children) {
    if (count != below[key.size() - 1]) return std::nullopt;
  }
  std::map<Key, std::size_t> hosts_at;
  for (const Key& key : keys) ++hosts_at[key];
  for (const auto& [key, count] : hosts_at) {
    if (count != keys.size() / points) return std::nullopt;
  }
  std::erase(levels.extent, 1u);
  return levels;
}

}  // namespace fathom::simulator
