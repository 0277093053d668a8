// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/load_spread.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace fathom::simulator {
namespace {

constexpr double kLeastRealCapacity_Bps = 1e6;

// Nearest rank: the smallest value that at least this part of them do not exceed.
double quantile(std::vector<double> values, double part) {
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

LoadSpread load_spread(const Network& network, std::span<const double> bytes, bool host_links) {
  LoadSpread spread;
  std::vector<double> counted;
  for (LinkId id = 0; id < network.link_count(); ++id) {
    const bool joins_switches = network.joins_switches(id);
    const double congestion = bytes[id] / network.link(id).capacity_Bps;
    WorstLink& worst = joins_switches ? spread.between_switches : spread.of_hosts;
    if (congestion > worst.congestion) worst = {id, congestion};
    if (host_links || joins_switches) counted.push_back(congestion);
  }
  spread.links = counted.size();
  if (counted.empty()) return spread;
  spread.unused = static_cast<std::size_t>(std::count(counted.begin(), counted.end(), 0.0));
  spread.max_congestion = *std::max_element(counted.begin(), counted.end());
  spread.mean_congestion =
      std::accumulate(counted.begin(), counted.end(), 0.0) / static_cast<double>(counted.size());
  if (spread.mean_congestion > 0) spread.imbalance = spread.max_congestion / spread.mean_congestion;
  spread.p95_congestion = quantile(std::move(counted), 0.95);
  return spread;
}

bool has_relative_capacities(const Network& network) {
  return std::any_of(network.links().begin(), network.links().end(),
                     [](const Link& link) { return link.capacity_Bps < kLeastRealCapacity_Bps; });
}

}  // namespace fathom::simulator
