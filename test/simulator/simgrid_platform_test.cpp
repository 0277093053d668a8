// A platform file as SimGrid reads it and as Fathom does: the same hosts, and between every two of
// them routes of the same latency, the same least bandwidth, and in all the same links.
//
//   simgrid_platform_test PLATFORM.xml
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "simulator/cluster.h"
#include "simulator/placed_routes.h"
#include "simulator/registry.h"

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

bool near(double one, double other) { return std::abs(one - other) <= 1e-9 * std::max(one, other); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
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
  return wrong == 0 ? 0 : 1;
}
