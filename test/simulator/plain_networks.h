// SPDX-License-Identifier: BSD-3-Clause
// Fat trees, tori and dragonflies as bare lists of links and routes: what a flow model and SimGrid
// are both given, so that they simulate the same thing. Written apart from simulator/'s own
// topologies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simulator/flow/flow_model.h"

namespace fathom::test {

using Route = std::vector<std::uint32_t>;

struct PlainNetwork {
  std::string name;
  std::uint32_t hosts = 0;
  std::vector<simulator::LinkSpeed> links;
  std::vector<Route> routes;  // from * hosts + to; empty from a host to itself

  const Route& route(std::uint32_t from, std::uint32_t to) const {
    return routes[static_cast<std::size_t>(from) * hosts + to];
  }
};

// `leaves` switches with `hosts_per_leaf` hosts each, all joined to `spines` switches; the flow to
// host h goes over spine h mod `spines`. `fabric` is what joins leaves and spines.
PlainNetwork fat_tree(std::uint32_t leaves, std::uint32_t hosts_per_leaf, std::uint32_t spines,
                      simulator::LinkSpeed host, simulator::LinkSpeed fabric);

// One host at each point, shortest way around, first along x, then y, then z. Each host has a link
// into and one out of its router.
PlainNetwork torus(std::uint32_t x, std::uint32_t y, std::uint32_t z, simulator::LinkSpeed host,
                   simulator::LinkSpeed fabric);

// `groups` of `routers` with `hosts_per_router`; routers of a group are all joined by `local`,
// groups in pairs by one `global` link each. Minimal routing.
PlainNetwork dragonfly(std::uint32_t groups, std::uint32_t routers, std::uint32_t hosts_per_router,
                       simulator::LinkSpeed host, simulator::LinkSpeed local,
                       simulator::LinkSpeed global);

struct PlainFlow {
  std::uint32_t from = 0, to = 0;
  double size_bytes = 0;
  double start_s = 0;
};

std::vector<PlainFlow> all_to_all(std::uint32_t hosts, double size_bytes);
// Pairs, sizes up to `largest_bytes` and starts before `last_start_s`, drawn with the seed.
std::vector<PlainFlow> random_flows(std::uint32_t hosts, std::size_t count, double largest_bytes,
                                    double last_start_s, unsigned seed);

enum class Sharing {
  kEqual,             // every flow has the weight 1
  kByInverseLatency,  // weight 1 / latency of the route, as SimGrid's model has it
};

// When each flow ends according to Fathom.
std::vector<double> ends_by_flow_model(const PlainNetwork& network,
                                       const std::vector<PlainFlow>& flows, Sharing sharing);

}  // namespace fathom::test
