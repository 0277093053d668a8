// SPDX-License-Identifier: BSD-3-Clause
// A platform file as SimGrid reads it and as Fathom does: the same hosts, and between every two of
// them routes of the same latency and the same least bandwidth; in a torus, by dimension order, of
// the same links.
//
//   simgrid_platform_test PLATFORM.xml [torus]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "simulator/formats/cluster.h"
#include "simulator/placement/placed_routes.h"
#include "simulator/routing/registry.h"

namespace {

using namespace fathom::simulator;

struct Path {
  double latency_s = 0;
  double capacity_Bps = std::numeric_limits<double>::infinity();
};

Path by_simgrid(simgrid::s4u::Host* from, simgrid::s4u::Host* to) {
  Path path;
  std::vector<simgrid::s4u::Link*> links;
  from->route_to(to, links, &path.latency_s);
  for (const auto* link : links)
    path.capacity_Bps = std::min(path.capacity_Bps, link->get_bandwidth());
  return path;
}

Path by_fathom(const Network& network, std::span<const LinkId> way) {
  Path path;
  for (const LinkId link : way) {
    path.latency_s += network.link(link).latency_s;
    path.capacity_Bps = std::min(path.capacity_Bps, network.link(link).capacity_Bps);
  }
  return path;
}

// SimGrid's links of a torus are "c_link_from_0_to_1", with "_UP" from 0 to 1 and "_DOWN" back;
// rank R is "R.router" after the prefix here. As "0>1 1>5 …".
std::string ranks_by_simgrid(simgrid::s4u::Host* from, simgrid::s4u::Host* to) {
  double latency_s = 0;
  std::vector<simgrid::s4u::Link*> links;
  from->route_to(to, links, &latency_s);
  std::string ranks;
  for (const auto* link : links) {
    unsigned one = 0, other = 0;
    char direction = 0;
    const char* name = link->get_cname();
    if (std::sscanf(std::strstr(name, "_link_from_"), "_link_from_%u_to_%u_%c", &one, &other,
                    &direction) != 3)
      return std::string("not understood: ") + name;
    if (direction == 'D') std::swap(one, other);
    ranks += std::to_string(one) + '>' + std::to_string(other) + ' ';
  }
  return ranks;
}

std::string ranks_by_fathom(const Network& network, std::span<const LinkId> way) {
  std::string ranks;
  const auto rank = [&](NodeId node) { return std::to_string(node - network.host_count()); };
  for (const LinkId link : way) {
    if (network.joins_switches(link))
      ranks += rank(network.link(link).source) + '>' + rank(network.link(link).target) + ' ';
  }
  return ranks;
}

bool near(double one, double other) { return std::abs(one - other) <= 1e-9 * std::max(one, other); }

using Hosts = std::vector<simgrid::s4u::Host*>;

int wrong_turns(const Network& network, const Hosts& hosts, const Job& job,
                const Placement& placement) {
  const auto routes =
      PlacedRoutes::make(network, job, placement, **find_router("dor"), 1, LinkUse(network));
  if (!routes) return std::printf("%s\n", routes.error().message.c_str()), 1;
  int wrong = 0;
  for (std::uint32_t from = 0; from < hosts.size(); ++from) {
    for (std::uint32_t to = 0; to < hosts.size(); ++to) {
      if (from == to) continue;
      const std::string theirs = ranks_by_simgrid(hosts[from], hosts[to]),
                        ours = ranks_by_fathom(network, routes->between(from, to));
      if (theirs == ours) continue;
      ++wrong;
      std::printf("%s to %s: %s, here %s\n", hosts[from]->get_cname(), hosts[to]->get_cname(),
                  theirs.c_str(), ours.c_str());
    }
  }
  std::printf("dimension order: %d pairs wrong\n", wrong);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_torus = argc == 3 && std::string(argv[2]) == "torus";
  if (argc != 2 && !is_torus) return 2;
  std::string name = "platform", quiet = "--log=root.thresh:error",
              factor = "--cfg=network/model:CM02";
  char* words[] = {name.data(), quiet.data(), factor.data(), nullptr};
  int word_count = 3;
  simgrid::s4u::Engine engine(&word_count, words);
  engine.load_platform(argv[1]);
  engine.seal_platform();  // tables of Floyd and Dijkstra
  const auto network = load_cluster(argv[1]);
  if (!network) return std::printf("%s\n", network.error().message.c_str()), 1;
  const auto hosts = engine.get_all_hosts();
  if (hosts.size() != network->host_count())
    return std::printf("%zu hosts, %u here\n", hosts.size(), network->host_count()), 1;
  Job job{"all", static_cast<std::int64_t>(hosts.size()), {}};
  Placement placement;
  for (const auto* host : hosts) {
    const NodeId node = network->find_node(host->get_name());
    if (node == kNoId || !network->is_host(node))
      return std::printf("no host %s here\n", host->get_cname()), 1;
    placement.push_back(node);
  }
  const auto routes =
      PlacedRoutes::make(*network, job, placement, **find_router("minimal"), 1, LinkUse(*network));
  if (!routes) return std::printf("%s\n", routes.error().message.c_str()), 1;
  int wrong = 0;
  for (std::uint32_t from = 0; from < hosts.size(); ++from) {
    for (std::uint32_t to = 0; to < hosts.size(); ++to) {
      if (from == to) continue;
      const Path theirs = by_simgrid(hosts[from], hosts[to]),
                 ours = by_fathom(*network, routes->between(from, to));
      if (near(theirs.latency_s, ours.latency_s) && near(theirs.capacity_Bps, ours.capacity_Bps))
        continue;
      ++wrong;
      std::printf("%s to %s: %g s and %g B/s, here %g s and %g B/s\n", hosts[from]->get_cname(),
                  hosts[to]->get_cname(), theirs.latency_s, theirs.capacity_Bps, ours.latency_s,
                  ours.capacity_Bps);
    }
  }
  std::printf("%zu hosts, %u links, %d pairs wrong\n", hosts.size(), network->link_count(), wrong);
  if (is_torus) wrong += wrong_turns(*network, hosts, job, placement);
  return wrong == 0 ? 0 : 1;
}
