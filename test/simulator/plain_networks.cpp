// SPDX-License-Identifier: BSD-3-Clause
#include "test/simulator/plain_networks.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>

namespace fathom::test {
namespace {

using simulator::LinkSpeed;

// A block of equal links; at(i) is the number of the i-th.
class Block {
 public:
  Block(PlainNetwork& network, std::size_t count, LinkSpeed speed)
      : first_(static_cast<std::uint32_t>(network.links.size())) {
    network.links.insert(network.links.end(), count, speed);
  }
  std::uint32_t at(std::uint32_t index) const { return first_ + index; }

 private:
  std::uint32_t first_;
};

template <typename Router>
void make_routes(PlainNetwork& network, Router route) {
  network.routes.resize(static_cast<std::size_t>(network.hosts) * network.hosts);
  for (std::uint32_t from = 0; from < network.hosts; ++from) {
    for (std::uint32_t to = 0; to < network.hosts; ++to) {
      if (from != to)
        network.routes[static_cast<std::size_t>(from) * network.hosts + to] = route(from, to);
    }
  }
}

void die(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

}  // namespace

PlainNetwork fat_tree(std::uint32_t leaves, std::uint32_t hosts_per_leaf, std::uint32_t spines,
                      LinkSpeed host, LinkSpeed fabric) {
  PlainNetwork network{
      .name = "fat tree", .hosts = leaves * hosts_per_leaf, .links = {}, .routes = {}};
  const Block out(network, network.hosts, host), in(network, network.hosts, host);
  const Block up(network, leaves * spines, fabric), down(network, leaves * spines, fabric);
  make_routes(network, [&](std::uint32_t from, std::uint32_t to) -> Route {
    const std::uint32_t leaf = from / hosts_per_leaf, to_leaf = to / hosts_per_leaf;
    const std::uint32_t spine = to % spines;
    if (leaf == to_leaf) return {out.at(from), in.at(to)};
    return {out.at(from), up.at(leaf * spines + spine), down.at(to_leaf * spines + spine),
            in.at(to)};
  });
  return network;
}

PlainNetwork torus(std::uint32_t x, std::uint32_t y, std::uint32_t z, LinkSpeed host,
                   LinkSpeed fabric) {
  PlainNetwork network{.name = "torus", .hosts = x * y * z, .links = {}, .routes = {}};
  const Block out(network, network.hosts, host), in(network, network.hosts, host);
  const Block ways(network, 6 * static_cast<std::size_t>(network.hosts), fabric);
  const std::array<std::uint32_t, 3> extent = {x, y, z}, stride = {1, x, x * y};
  make_routes(network, [&](std::uint32_t from, std::uint32_t to) {
    Route route = {out.at(from)};
    std::uint32_t here = from;
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      const std::uint32_t size = extent[axis];
      const auto place = [&](std::uint32_t node) { return node / stride[axis] % size; };
      const std::uint32_t ahead = (place(to) + size - place(here)) % size;
      const bool forwards = 2 * ahead <= size;
      while (place(here) != place(to)) {
        route.push_back(ways.at(6 * here + 2 * axis + (forwards ? 0 : 1)));
        const std::uint32_t next = (place(here) + (forwards ? 1 : size - 1)) % size;
        here = here - place(here) * stride[axis] + next * stride[axis];
      }
    }
    route.push_back(in.at(to));
    return route;
  });
  return network;
}

PlainNetwork dragonfly(std::uint32_t groups, std::uint32_t routers, std::uint32_t hosts_per_router,
                       LinkSpeed host, LinkSpeed local, LinkSpeed global) {
  PlainNetwork network{
      .name = "dragonfly", .hosts = groups * routers * hosts_per_router, .links = {}, .routes = {}};
  const Block out(network, network.hosts, host), in(network, network.hosts, host);
  const Block locals(network, static_cast<std::size_t>(groups) * routers * routers, local);
  const Block globals(network, static_cast<std::size_t>(groups) * groups, global);
  const auto gateway = [&](std::uint32_t group, std::uint32_t other) {
    return ((other + groups - group - 1) % groups) % routers;
  };
  make_routes(network, [&](std::uint32_t from, std::uint32_t to) {
    const std::uint32_t router = from / hosts_per_router, to_router = to / hosts_per_router;
    const std::uint32_t group = router / routers, to_group = to_router / routers;
    Route route = {out.at(from)};
    const auto go = [&](std::uint32_t in_group, std::uint32_t a, std::uint32_t b) {
      if (a != b) route.push_back(locals.at((in_group * routers + a) * routers + b));
    };
    if (group == to_group) {
      go(group, router % routers, to_router % routers);
    } else {
      go(group, router % routers, gateway(group, to_group));
      route.push_back(globals.at(group * groups + to_group));
      go(to_group, gateway(to_group, group), to_router % routers);
    }
    route.push_back(in.at(to));
    return route;
  });
  return network;
}

std::vector<PlainFlow> all_to_all(std::uint32_t hosts, double size_bytes) {
  std::vector<PlainFlow> flows;
  for (std::uint32_t from = 0; from < hosts; ++from) {
    for (std::uint32_t to = 0; to < hosts; ++to) {
      if (from != to) flows.push_back({from, to, size_bytes, 0});
    }
  }
  return flows;
}

std::vector<PlainFlow> random_flows(std::uint32_t hosts, std::size_t count, double largest_bytes,
                                    double last_start_s, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<PlainFlow> flows;
  while (flows.size() < count) {
    const auto from = static_cast<std::uint32_t>(random() % hosts);
    const auto to = static_cast<std::uint32_t>(random() % hosts);
    const double size = 1 + random() % static_cast<std::uint32_t>(largest_bytes);
    const double start_s = last_start_s * (random() % 1000000) * 1e-6;
    if (from != to) flows.push_back({from, to, size, start_s});
  }
  return flows;
}

std::vector<double> ends_by_flow_model(const PlainNetwork& network,
                                       const std::vector<PlainFlow>& flows, Sharing sharing) {
  auto model = simulator::FlowModel::create(network.links);
  if (!model) die(model.error().message);
  for (std::size_t index = 0; index < flows.size(); ++index) {
    const PlainFlow& flow = flows[index];
    const Route& route = network.route(flow.from, flow.to);
    double latency_s = 0;
    for (std::uint32_t link : route) latency_s += network.links[link].latency_s;
    const double weight = sharing == Sharing::kByInverseLatency ? 1 / latency_s : 1;
    const auto started = model->start({route, flow.size_bytes, flow.start_s, index, weight});
    if (!started) die(started.error().message);
  }
  std::vector<double> ends_s(flows.size());
  while (model->next_event_s() != simulator::FlowModel::kNever) {
    for (const simulator::EndedFlow& flow : model->step()) ends_s[flow.tag] = flow.end_s;
  }
  return ends_s;
}

}  // namespace fathom::test
