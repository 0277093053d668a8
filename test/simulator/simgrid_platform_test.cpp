// SPDX-License-Identifier: BSD-3-Clause
// A platform file as SimGrid reads it and as Fathom does: the same hosts, and between every two of
// them the route that SimGrid takes, as far as latency, least bandwidth and the bandwidths of all
// its links tell routes apart; in a torus, by dimension order, of the same links.
//
//   simgrid_platform_test PLATFORM.xml [torus]
//
// The other way round: a cluster of Fathom's, written as a platform, read by SimGrid, whose routes
// must be those of ROUTING here, or as long as shortest paths.
//
//   simgrid_platform_test CLUSTER written [ROUTING]
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "simulator/formats/cluster.h"
#include "simulator/formats/simgrid_writer.h"
#include "simulator/network/given_routes.h"
#include "simulator/placement/placed_routes.h"
#include "simulator/routing/registry.h"

namespace {

using namespace fathom::simulator;

struct Path {
  double latency_s = 0;
  double capacity_Bps = std::numeric_limits<double>::infinity();
  // Of its links; without those of FATPIPE, which are no links here.
  std::vector<double> capacities;
  bool is_there = true;
};

Path by_simgrid(simgrid::s4u::Host* from, simgrid::s4u::Host* to) {
  Path path;
  std::vector<simgrid::s4u::Link*> links;
  try {
    from->route_to(to, links, &path.latency_s);
  } catch (const std::exception&) {
    links.clear();
  }
  for (const auto* link : links) {
    path.capacity_Bps = std::min(path.capacity_Bps, link->get_bandwidth());
    if (link->get_sharing_policy() != simgrid::s4u::Link::SharingPolicy::FATPIPE)
      path.capacities.push_back(link->get_bandwidth());
  }
  path.is_there = !links.empty();
  return path;
}

using FindWay = std::function<bool(HostId from, HostId to, std::vector<LinkId>& way)>;

Path by_fathom(const Network& network, const FindWay& find, HostId from, HostId to) {
  Path path;
  std::vector<LinkId> way;
  path.is_there = find(from, to, way);
  for (const LinkId link : way) {
    path.latency_s += network.link(link).latency_s;
    path.capacity_Bps = std::min(path.capacity_Bps, network.link(link).capacity_Bps);
    path.capacities.push_back(network.link(link).capacity_Bps);
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

// Whether both are the same route. Ours also has links that join media, which limit nothing and take
// no time, and crosses a router's limiter before the link that leaves the router.
bool are_same(Path theirs, Path ours) {
  if (!theirs.is_there || !ours.is_there) return theirs.is_there == ours.is_there;
  std::sort(theirs.capacities.begin(), theirs.capacities.end());
  std::sort(ours.capacities.begin(), ours.capacities.end());
  std::size_t found = 0;
  for (const double capacity : ours.capacities) {
    if (found < theirs.capacities.size() && near(theirs.capacities[found], capacity)) ++found;
  }
  return found == theirs.capacities.size() && near(theirs.latency_s, ours.latency_s) &&
         near(theirs.capacity_Bps, ours.capacity_Bps);
}

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

// All pairs of hosts, or of large platforms every so many hosts; the number of different routes.
int compare(const Network& network, const Hosts& hosts, const Placement& placement,
            const FindWay& find) {
  int wrong = 0;
  const auto step = static_cast<std::uint32_t>(1 + hosts.size() / 2000);
  for (std::uint32_t from = 0; from < hosts.size(); from += step) {
    for (std::uint32_t to = 0; to < hosts.size(); to += step) {
      if (from == to) continue;
      const Path theirs = by_simgrid(hosts[from], hosts[to]),
                 ours = by_fathom(network, find, placement[from], placement[to]);
      if (are_same(theirs, ours)) continue;
      if (++wrong > 20) continue;
      std::printf("%s to %s: %s, %g s and %g B/s, here %s, %g s and %g B/s\n",
                  hosts[from]->get_cname(), hosts[to]->get_cname(),
                  theirs.is_there ? "a route" : "none", theirs.latency_s, theirs.capacity_Bps,
                  ours.is_there ? "a route" : "none", ours.latency_s, ours.capacity_Bps);
    }
  }
  std::printf("%zu hosts, %u links, %d pairs wrong\n", hosts.size(), network.link_count(), wrong);
  return wrong;
}

// A file that is removed at the end.
class WrittenPlatform {
 public:
  ~WrittenPlatform() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_ =
      std::filesystem::temp_directory_path() / ("platform-" + std::to_string(::getpid()) + ".xml");
};

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[2] : "";
  const bool is_torus = argc == 3 && what == "torus", is_written = argc >= 3 && what == "written";
  if (argc != 2 && !is_torus && !is_written) return 2;
  const auto network = load_cluster(argv[1]);
  if (!network) return std::printf("%s\n", network.error().message.c_str()), 1;
  const RouterRow* router = argc > 3 ? *find_router(argv[3]) : nullptr;
  const WrittenPlatform written;
  if (is_written) {
    const auto status = write_simgrid_platform(*network, written.path(), router);
    if (!status) return std::printf("%s\n", status.error().message.c_str()), 1;
  }
  std::string name = "platform", quiet = "--log=root.thresh:error",
              factor = "--cfg=network/model:CM02";
  char* words[] = {name.data(), quiet.data(), factor.data(), nullptr};
  int word_count = 3;
  simgrid::s4u::Engine engine(&word_count, words);
  engine.load_platform(is_written ? written.path() : argv[1]);
  engine.seal_platform();  // tables of Floyd and Dijkstra
  const auto hosts = engine.get_all_hosts();
  if (hosts.size() != network->host_count())
    return std::printf("%zu hosts, %u here\n", hosts.size(), network->host_count()), 1;
  std::map<std::string, NodeId> nodes;
  for (NodeId node = 0; node < network->host_count(); ++node)
    nodes[network->node_name(node)] = node;
  Job job{"all", static_cast<std::int64_t>(hosts.size()), {}};
  Placement placement;
  for (const auto* host : hosts) {
    const auto found = nodes.find(host->get_name());
    if (found == nodes.end()) return std::printf("no host %s here\n", host->get_cname()), 1;
    placement.push_back(found->second);
  }
  if (!is_written) {
    int wrong = compare(*network, hosts, placement, [&](HostId from, HostId to, auto& way) {
      return network->given_routes()->append(from, to, way);
    });
    if (is_torus) wrong += wrong_turns(*network, hosts, job, placement);
    return wrong == 0 ? 0 : 1;
  }
  // What Fathom routes, one demand at a time; a pair without a route has none in the platform.
  auto made = (router ? router : *find_router("minimal"))->make(*network, {});
  if (!made) return std::printf("%s\n", made.error().message.c_str()), 1;
  const int wrong = compare(*network, hosts, placement, [&](HostId from, HostId to, auto& way) {
    const std::vector<Demand> demands = {{from, to, 1, 1, 0}};
    RouteTable table(1);
    if (!(*made)->route(demands, LinkUse(*network), table)) return false;
    way.assign(table.way(0).begin(), table.way(0).end());
    return true;
  });
  return wrong == 0 ? 0 : 1;
}
