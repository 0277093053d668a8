// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/placed_routes.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace fathom::simulator {
namespace {

// Keeps the paths, and detects a router that splits demands.
class WholeWays : public RouteSink {
 public:
  explicit WholeWays(RouteTable& ways) : ways_(ways) {}

  void take(std::size_t index, std::span<const LinkId> links, double share) override {
    split_ = split_ || share != 1;
    ways_.take(index, links, share);
  }
  bool split() const { return split_; }

 private:
  RouteTable& ways_;
  bool split_ = false;
};

std::vector<HostId> distinct(std::vector<HostId> hosts) {
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

}  // namespace

std::vector<LinkSpeed> link_speeds(const Network& network) {
  std::vector<LinkSpeed> speeds;
  speeds.reserve(network.link_count());
  for (const Link& link : network.links()) speeds.push_back({link.capacity_Bps, link.latency_s});
  return speeds;
}

base::Result<RouteTable> whole_routes(const RouterRow& row, Router& router,
                                      std::span<const Demand> demands, const LinkUse& background) {
  RouteTable ways(demands.size());
  WholeWays sink(ways);
  if (auto routed = router.route(demands, background, sink); !routed) return routed.error();
  if (sink.split()) {
    return base::Error{
        std::string("routing ") + row.name +
        " splits flows over several paths, which the flow model cannot do; choose another"};
  }
  return ways;
}

base::Result<PlacedRoutes> PlacedRoutes::make(const Network& network, const Job& job,
                                              const Placement& placement, const RouterRow& router,
                                              std::uint64_t seed, const LinkUse& background) {
  const std::vector<HostId> hosts = distinct(placement);
  std::vector<std::uint32_t> place;
  for (HostId host : placement) {
    place.push_back(static_cast<std::uint32_t>(std::lower_bound(hosts.begin(), hosts.end(), host) -
                                               hosts.begin()));
  }
  std::vector<Demand> demands;
  demands.reserve(hosts.size() * hosts.size());
  for (HostId from : hosts) {
    for (HostId to : hosts) demands.push_back({from, to, 0, 0, 0});
  }
  for (const profile::PairCount& pair : job.pairs) {
    const std::size_t from = place[static_cast<std::size_t>(pair.source)];
    const std::size_t to = place[static_cast<std::size_t>(pair.destination)];
    Demand& demand = demands[from * hosts.size() + to];
    demand.bytes += static_cast<double>(pair.bytes);
    ++demand.flows;
  }
  // At least one byte per pair of hosts, so that load-aware routers choose a path for each.
  for (Demand& demand : demands) {
    demand.bytes = std::max(demand.bytes, 1.0);
    demand.flows = std::max(demand.flows, 1u);
  }
  auto made = router.make(network, {seed});
  if (!made) return made.error();
  auto ways = whole_routes(router, **made, demands, background);
  if (!ways) return ways.error();
  return PlacedRoutes(std::move(place), hosts.size(), std::move(*ways));
}

Phase PlacedRoutes::phase(const Job& job, double computation_s) const {
  Phase phase{computation_s, {}};
  for (const profile::PairCount& pair : job.pairs) {
    if (pair.source == pair.destination) continue;
    const auto from = static_cast<std::uint32_t>(pair.source);
    const auto to = static_cast<std::uint32_t>(pair.destination);
    phase.flows.push_back({between(from, to), static_cast<double>(pair.bytes)});
  }
  return phase;
}

ReplayNetwork PlacedRoutes::replay_network(FlowModel& flows) const {
  return {&flows, [this](std::uint32_t from, std::uint32_t to) { return between(from, to); }};
}

}  // namespace fathom::simulator
