// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/objective.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "simulator/flow/phases.h"
#include "simulator/placement/placed_routes.h"
#include "simulator/placement/spectrum.h"
#include "simulator/routing/link_load.h"

namespace fathom::simulator {
namespace {

constexpr std::int64_t kMostRanksOfSpectrum = 1024;

using Bytes = std::vector<std::vector<double>>;  // by rank: to or from each partner, descending

// Bytes that each rank sends to others (or receives from them), by partner.
Bytes by_partner(const Job& job, bool sent) {
  Bytes result(static_cast<std::size_t>(job.ranks));
  for (const profile::PairCount& pair : job.pairs) {
    if (pair.source == pair.destination) continue;
    result[static_cast<std::size_t>(sent ? pair.source : pair.destination)].push_back(
        static_cast<double>(pair.bytes));
  }
  for (std::vector<double>& partners : result) std::sort(partners.rbegin(), partners.rend());
  return result;
}

// Minimum over all hosts of the distance to the k-th nearest place. The places beside a rank on its
// own host have distance 0. A host's k-th nearest place is within a distance if there are more than k
// places within it, so the host with the most places there decides.
std::vector<std::uint32_t> least_distances(const PlaceCosts& costs) {
  std::vector<std::size_t> most;  // by distance: places within it, of the host that has most
  for (std::size_t one = 0; one < costs.slots.size(); ++one) {
    std::vector<std::size_t> places(most.size(), 0);
    const auto row = costs.distances.from(one);
    for (std::size_t other = 0; other < row.size(); ++other) {
      if (row[other] >= places.size()) places.resize(row[other] + std::size_t{1}, 0);
      places[row[other]] += costs.slots[other] - (one == other ? 1 : 0);
    }
    most.resize(places.size(), most.empty() ? 0 : most.back());
    std::size_t within = 0;
    for (std::size_t distance = 0; distance < places.size(); ++distance) {
      within += places[distance];
      most[distance] = std::max(most[distance], within);
    }
  }
  std::vector<std::uint32_t> least;
  for (std::uint32_t distance = 0; distance < most.size(); ++distance)
    least.resize(std::max(least.size(), most[distance]), distance);
  return least;
}

double sum_from(const std::vector<double>& partners, std::size_t first) {
  double sum = 0;
  for (std::size_t at = first; at < partners.size(); ++at) sum += partners[at];
  return sum;
}

double far_bytes(const std::vector<double>& partners, const std::vector<std::uint32_t>& hops) {
  double sum = 0;
  for (std::size_t at = 0; at < partners.size() && at < hops.size(); ++at)
    sum += partners[at] * hops[at];
  return sum;
}

// Slots of the job's hosts by their switch, and capacity from and to other switches there.
struct SwitchParts {
  std::vector<std::size_t> slots;
  double out_Bps = 0, in_Bps = 0;
};

SwitchParts parts_of(const Network& network, std::span<const HostId> hosts) {
  std::map<NodeId, std::size_t> slots;
  for (const HostId host : hosts) {
    for (const LinkId link : network.links_from(host)) {
      if (network.links_from(host).size() == 1)
        slots[network.link(link).target] += network.slots(host);
    }
  }
  SwitchParts parts;
  for (const auto& [at, count] : slots) {
    parts.slots.push_back(count);
    for (const LinkId link : network.links_from(at))
      parts.out_Bps += network.joins_switches(link) ? network.link(link).capacity_Bps : 0;
    for (const LinkId link : network.links_to(at))
      parts.in_Bps += network.joins_switches(link) ? network.link(link).capacity_Bps : 0;
  }
  return parts;
}

struct HostCapacity {
  double all = 0, largest = 0;  // Bps: sum and maximum over the hosts
};

HostCapacity capacity_of(const Network& network, std::span<const HostId> hosts, bool out) {
  HostCapacity result;
  for (const HostId host : hosts) {
    double sum = 0;
    for (const LinkId link : out ? network.links_from(host) : network.links_to(host)) {
      sum += network.link(link).capacity_Bps;
    }
    result.all += sum;
    result.largest = std::max(result.largest, sum);
  }
  return result;
}

// Adds bounds on the traffic between hosts and between switches that no division of the ranks can
// avoid. Each of these bytes leaves one host or switch and enters another.
void add_spectral(const Network& network, const Job& job, std::span<const HostId> hosts,
                  Scores& bounds) {
  if (job.ranks > kMostRanksOfSpectrum || job.ranks < 2) return;
  const std::vector<double> spectrum = laplacian_spectrum(RankGraph(job));
  std::vector<std::size_t> sizes;
  for (const HostId host : hosts) sizes.push_back(network.slots(host));
  const double between_hosts = cut_bound(spectrum, sizes);
  bounds[Objective::kHostBytes] = std::max(bounds[Objective::kHostBytes], between_hosts);
  const SwitchParts parts = parts_of(network, hosts);
  const bool all_counted =
      std::accumulate(parts.slots.begin(), parts.slots.end(), std::size_t{0}) ==
      std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  const double between_switches = all_counted ? cut_bound(spectrum, parts.slots) : 0;
  // A path between hosts over a switch has at least two hops, and one more between switches.
  const double hops = all_counted ? 2 * between_hosts + between_switches : between_hosts;
  bounds[Objective::kHopBytes] = std::max(bounds[Objective::kHopBytes], hops);
  for (const bool out : {true, false}) {
    double& congestion = bounds[Objective::kCongestion];
    congestion = std::max(congestion, between_hosts / capacity_of(network, hosts, out).all);
    const double capacity = out ? parts.out_Bps : parts.in_Bps;
    if (capacity > 0) congestion = std::max(congestion, between_switches / capacity);
  }
}

// One demand for each pair of hosts that communicate, ascending.
std::vector<Demand> host_demands(const Job& job, const Placement& placement) {
  std::map<std::pair<HostId, HostId>, Demand> demands;
  for (const profile::PairCount& pair : job.pairs) {
    const HostId from = placement[static_cast<std::size_t>(pair.source)],
                 to = placement[static_cast<std::size_t>(pair.destination)];
    Demand& demand = demands.try_emplace({from, to}, Demand{from, to, 0, 0, 0}).first->second;
    demand.bytes += static_cast<double>(pair.bytes);
    ++demand.flows;
  }
  std::vector<Demand> result;
  result.reserve(demands.size());
  for (auto& [hosts, demand] : demands) {
    demand.bytes = std::max(demand.bytes, 1.0);
    result.push_back(demand);
  }
  return result;
}

// Everything the job sends, at once. The paths are those of PlacedRoutes, but only of hosts that
// communicate: a large job has too many others.
base::Result<double> time_of_all(const Network& network, const Job& job, const Placement& placement,
                                 const RouterRow& row, Router& router) {
  const std::vector<Demand> demands = host_demands(job, placement);
  const auto ways = whole_routes(row, router, demands, LinkUse(network));
  if (!ways) return ways.error();
  Phase phase{0, {}};
  for (const profile::PairCount& pair : job.pairs) {
    if (pair.source == pair.destination) continue;
    const std::pair hosts(placement[static_cast<std::size_t>(pair.source)],
                          placement[static_cast<std::size_t>(pair.destination)]);
    const auto demand = std::lower_bound(demands.begin(), demands.end(), hosts,
                                         [](const Demand& one, const auto& other) {
                                           return std::pair(one.source, one.destination) < other;
                                         });
    phase.flows.push_back({ways->way(static_cast<std::size_t>(demand - demands.begin())),
                           static_cast<double>(pair.bytes)});
  }
  auto flows = FlowModel::create(link_speeds(network));
  if (!flows) return flows.error();
  const PhasedJob phased{0, {std::move(phase)}};
  const auto times = run_together(*flows, {&phased, 1});
  if (!times) return times.error();
  return times->front().duration_s;
}

}  // namespace

base::Result<Objective> find_objective(std::string_view name) {
  for (std::size_t at = 0; at < kObjectiveNames.size(); ++at) {
    if (name == kObjectiveNames[at]) return static_cast<Objective>(at);
  }
  return base::Error{"there is no objective '" + std::string(name) +
                     "'; there are congestion, time, hop-bytes, host-bytes"};
}

base::Result<Scores> evaluate(const Network& network, const Job& job, const Placement& placement,
                              const RouterRow& row, std::uint64_t seed, bool with_time) {
  auto router = row.make(network, {seed});
  if (!router) return router.error();
  const auto demands =
      demands_of(job, placement, row.per_flow ? Granularity::kProcesses : Granularity::kHosts);
  const auto use = link_load(network, **router, demands, LinkUse(network));
  if (!use) return use.error();
  Scores scores;
  scores[Objective::kCongestion] = load_figures(network, *use, true).max_congestion;
  for (const double bytes : use->bytes) scores[Objective::kHopBytes] += bytes;
  for (const Demand& demand : demands) {
    if (demand.source != demand.destination) scores[Objective::kHostBytes] += demand.bytes;
  }
  if (!with_time) return scores;
  const auto seconds = time_of_all(network, job, placement, row, **router);
  if (!seconds) return seconds.error();
  scores[Objective::kTime] = *seconds;
  return scores;
}

double nearest_places_bound(const Job& job, const PlaceCosts& costs) {
  const std::vector<std::uint32_t> least = least_distances(costs);
  double bound = 0;
  // Each direction alone bounds the whole: every byte sent is also received.
  for (const bool sent : {true, false}) {
    double sum = 0;
    for (const std::vector<double>& partners : by_partner(job, sent))
      sum += far_bytes(partners, least);
    bound = std::max(bound, sum);
  }
  return bound;
}

Scores lower_bounds(const Network& network, const Job& job, std::span<const HostId> hosts,
                    const PlaceCosts& costs) {
  const std::uint32_t most_slots = *std::max_element(costs.slots.begin(), costs.slots.end());
  Scores bounds;
  bounds[Objective::kHopBytes] = nearest_places_bound(job, costs);
  for (const bool sent : {true, false}) {
    const HostCapacity capacity = capacity_of(network, hosts, sent);
    double leaving = 0;
    for (const std::vector<double>& partners : by_partner(job, sent)) {
      const double alone = sum_from(partners, most_slots - 1);
      leaving += alone;
      bounds[Objective::kCongestion] =
          std::max(bounds[Objective::kCongestion], alone / capacity.largest);
    }
    bounds[Objective::kHostBytes] = std::max(bounds[Objective::kHostBytes], leaving);
    bounds[Objective::kCongestion] =
        std::max(bounds[Objective::kCongestion], leaving / capacity.all);
  }
  add_spectral(network, job, hosts, bounds);
  double all_capacity = 0;
  for (const Link& link : network.links()) all_capacity += link.capacity_Bps;
  bounds[Objective::kCongestion] =
      std::max(bounds[Objective::kCongestion], bounds[Objective::kHopBytes] / all_capacity);
  bounds[Objective::kTime] = bounds[Objective::kCongestion];
  return bounds;
}

}  // namespace fathom::simulator
