// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/path_cache.h"

#include <algorithm>
#include <map>

#include "simulator/placement/placed_routes.h"

namespace fathom::simulator {

PathCache::PathCache(const PlacementRequest& request, const RouterRow& row,
                     std::unique_ptr<Router> router)
    : request_(&request),
      row_(&row),
      router_(std::move(router)),
      background_(request.network),
      first_(request.hosts.size() * request.hosts.size(), kUnknown),
      links_(1, 0) {}

base::Result<PathCache> PathCache::make(const PlacementRequest& request, const RouterRow& row,
                                        const Places& places) {
  auto router = row.make(request.network, {request.seed});
  if (!router) return router.error();
  PathCache cache(request, row, std::move(*router));
  std::map<HostPair, double> bytes;
  for (const profile::PairCount& pair : request.job.pairs) {
    bytes[{places[static_cast<std::size_t>(pair.source)],
           places[static_cast<std::size_t>(pair.destination)]}] += static_cast<double>(pair.bytes);
  }
  std::vector<HostPair> pairs;
  std::vector<Demand> demands;
  for (const auto& [pair, sum] : bytes) {
    pairs.push_back(pair);
    demands.push_back({request.hosts[pair.first], request.hosts[pair.second], sum, 1, 0});
  }
  if (auto routed = cache.route(pairs, demands, LinkUse(request.network)); !routed)
    return routed.error();
  for (const auto& [pair, sum] : bytes) {
    for (const LinkId link : cache.path(pair)) cache.background_.bytes[link] += sum;
  }
  return cache;
}

base::Status PathCache::add(std::span<const HostPair> pairs) {
  std::vector<Demand> demands;
  demands.reserve(pairs.size());
  for (const auto& [from, to] : pairs)
    // One byte, because what these hosts will exchange is not known; the load beside them is what matters.
    demands.push_back({request_->hosts[from], request_->hosts[to], 1, 1, 0});
  return route(pairs, demands, background_);
}

base::Status PathCache::route(std::span<const HostPair> pairs, std::span<const Demand> demands,
                              const LinkUse& background) {
  const auto ways = whole_routes(*row_, *router_, demands, background);
  if (!ways) return ways.error();
  for (std::size_t at = 0; at < pairs.size(); ++at) {
    const std::span<const LinkId> way = ways->way(at);
    first_[index(pairs[at])] = static_cast<std::uint32_t>(links_.size());
    links_.push_back(static_cast<std::uint32_t>(way.size()));
    links_.insert(links_.end(), way.begin(), way.end());
  }
  return base::Done{};
}

}  // namespace fathom::simulator
