// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/simple_placements.h"

#include <cstddef>
#include <utility>

#include "base/random.h"

namespace fathom::simulator {
namespace {

Placement filled(const Network& network, std::span<const HostId> hosts, std::int64_t ranks) {
  Placement placement;
  placement.reserve(static_cast<std::size_t>(ranks));
  for (const HostId host : hosts) {
    for (std::uint32_t slot = 0; slot < network.slots(host); ++slot) {
      if (placement.size() == static_cast<std::size_t>(ranks)) return placement;
      placement.push_back(host);
    }
  }
  return placement;
}

}  // namespace

base::Result<Placement> place_block(const PlacementRequest& request) {
  return filled(request.network, request.hosts, request.job.ranks);
}

base::Result<Placement> place_cyclic(const PlacementRequest& request) {
  const auto ranks = static_cast<std::size_t>(request.job.ranks);
  Placement placement;
  placement.reserve(ranks);
  for (std::uint32_t round = 0; placement.size() < ranks; ++round) {
    for (const HostId host : request.hosts) {
      if (placement.size() == ranks) break;
      if (round < request.network.slots(host)) placement.push_back(host);
    }
  }
  return placement;
}

base::Result<Placement> place_random(const PlacementRequest& request) {
  std::vector<HostId> hosts(request.hosts.begin(), request.hosts.end());
  base::Random random(request.seed);
  for (std::size_t left = hosts.size(); left > 1; --left) {
    std::swap(hosts[left - 1], hosts[random.below(left)]);
  }
  return filled(request.network, hosts, request.job.ranks);
}

}  // namespace fathom::simulator
