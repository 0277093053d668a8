// SPDX-License-Identifier: BSD-3-Clause
// What a placement costs if only the distance between the two places of a message matters:
//
//     cost = sum over pairs of ranks r, s of bytes_rs * distance(place of r, place of s)
//
// With hops as distance these are hop-bytes on shortest paths; with 1 between any two hosts,
// host-bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "simulator/jobs/rank_graph.h"
#include "simulator/network/host_distances.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

// By rank: the index of its host in PlaceCosts::hosts.
using Places = std::vector<std::uint32_t>;

// Indices of hosts.
using HostGroup = std::vector<std::uint32_t>;

enum class PlaceMetric { kHops, kHosts };  // kHosts: 1 between any two hosts

struct PlaceCosts {
  // `network` must outlive this object. `hosts`: those that the job may use.
  PlaceCosts(const Network& network, const Job& job, std::span<const HostId> hosts,
             PlaceMetric metric = PlaceMetric::kHops);

  const Network& network;
  std::vector<HostId> hosts;
  RankGraph graph;
  HostDistances distances;           // taken as symmetric: both directions of a cable are one hop
  std::vector<std::uint32_t> slots;  // by host
  // Hosts that are nearer to each other than to others, level by level from the nearest: the hosts
  // of each switch of a tree, then those of each subtree. Host lists ascend. A level joins all
  // hosts that a chain of steps up to some distance links; only levels with more than one group
  // and some group of more than one host are kept.
  std::vector<std::vector<HostGroup>> levels;

  double of(const Places& places) const;

  // The host of each rank.
  std::vector<HostId> hosts_of(const Places& places) const;
  // The opposite. An Error if a host is not among `hosts`.
  base::Result<Places> places_of(std::span<const HostId> placement) const;
};

// The `count` hosts nearest to one, which is among them, or all if there are fewer. Ties are broken at
// random: the hosts of a large switch are equally near, and the first of them must not be preferred.
std::vector<std::uint32_t> nearest_hosts(const HostDistances& distances, std::uint32_t host,
                                         std::size_t count, base::Random& random);

}  // namespace fathom::simulator
