// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/simgrid_cluster.h"

#include <algorithm>

#include "base/text.h"
#include "simulator/formats/simgrid_values.h"
#include "simulator/topology/tree.h"

namespace fathom::simulator {
namespace {

using Node = MediaGraph::Node;
using Lists = std::vector<std::vector<std::uint32_t>>;

base::Error wrong_hosts(const std::string& parameters, double expected, std::size_t there) {
  return {"topo_parameters '" + parameters + "' describe " +
          std::to_string(static_cast<std::uint64_t>(expected)) + " hosts; radical names " +
          std::to_string(there)};
}

void both_ways(MediaGraph& graph, const ClusterLinks& links, Node one, Node other,
               std::uint32_t times = 1) {
  graph.add_link(one, other, times * links.capacity_Bps, links.latency_s);
  graph.add_link(other, one, times * links.capacity_Bps, links.latency_s);
}

std::string list_text(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers) base::add_to_list(text, std::to_string(number), ",");
  return text;
}

// Level of a link of a generated tree, from 0: switches are named s1.…, s2.… by level.
std::size_t level_of(const Network& tree, const Link& link) {
  std::size_t level = 0;
  for (const NodeId end : {link.source, link.target}) {
    if (!tree.is_host(end))
      level = std::max<std::size_t>(level, std::stoul(tree.node_name(end).substr(1)));
  }
  return level - 1;
}

// SimGrid routes the first coordinate first, and that coordinate runs fastest (TorusZone.cpp).
Grid grid_of(const std::vector<std::uint32_t>& extent) {
  Grid grid{Grid::Kind::kTorus, extent, {}, true};
  std::uint32_t stride = 1;
  for (const std::uint32_t width : extent) {
    grid.stride.push_back(stride);
    stride *= width;
  }
  return grid;
}

}  // namespace

Cable add_cable(MediaGraph& graph, const std::string& name, double capacity_Bps, double latency_s,
                Sharing sharing) {
  if (sharing == Sharing::kSplitDuplex) {
    return {{graph.add_medium(name + "_UP", capacity_Bps, latency_s, true)},
            {graph.add_medium(name + "_DOWN", capacity_Bps, latency_s, true)}};
  }
  const MediaGraph::Medium medium =
      graph.add_medium(name, capacity_Bps, latency_s, sharing == Sharing::kShared);
  return {{medium}, {medium}};
}

StarCluster make_star(MediaGraph& graph, const std::string& router,
                      const std::optional<Cable>& backbone) {
  const Node centre = graph.add_switch(router);
  if (!backbone) return {centre, centre, centre};
  const StarCluster star = {graph.add_switch(router + ".in"), graph.add_switch(router + ".out"),
                            centre};
  graph.add_way(star.inward, backbone->up, star.outward);
  graph.add_way(star.outward, {}, star.router);
  graph.add_way(star.router, {}, star.inward);
  return star;
}

void join_star(MediaGraph& graph, const StarCluster& star, Node host, const Cable& own,
               const Cable& limiter) {
  std::vector<MediaGraph::Medium> up = limiter.up, down = own.down;
  up.insert(up.end(), own.up.begin(), own.up.end());
  down.insert(down.end(), limiter.down.begin(), limiter.down.end());
  graph.add_way(host, up, star.inward);
  graph.add_way(star.outward, down, host);
}

base::Status make_fat_tree(MediaGraph& graph, const ClusterLinks& links,
                           const std::vector<Node>& hosts, const std::string& parameters) {
  const auto lists = simgrid_parameters(parameters);
  if (!lists) return lists.error();
  const std::size_t levels = lists->front().front();
  const bool complete = lists->size() == 4 && (*lists)[1].size() == levels &&
                        (*lists)[2].size() == levels && (*lists)[3].size() == levels;
  if (!complete)
    return base::Error{"'" + parameters +
                       "' must be levels;down links;up links;parallel links, by level"};
  const std::string tree = "xgft:m=" + list_text((*lists)[1]) + ";w=" + list_text((*lists)[2]);
  auto read = TopologyParameters::parse(tree, std::string_view(tree).substr(tree.find(':') + 1));
  if (!read) return read.error();
  const auto network = make_xgft(*read);
  if (!network) return network.error();
  if (network->host_count() != hosts.size())
    return wrong_hosts(parameters, network->host_count(), hosts.size());
  std::vector<Node> nodes = hosts;
  for (NodeId node = network->host_count(); node < network->node_count(); ++node) {
    nodes.push_back(graph.add_switch(links.name + "." + network->node_name(node)));
  }
  for (const Link& link : network->links()) {
    for (std::uint32_t cable = 0; cable < (*lists)[3][level_of(*network, link)]; ++cable) {
      graph.add_link(nodes[link.source], nodes[link.target], links.capacity_Bps, links.latency_s);
    }
  }
  return base::Done{};
}

base::Status make_simgrid_torus(MediaGraph& graph, const ClusterLinks& links,
                                const std::vector<Node>& hosts, const std::string& parameters) {
  const auto lists = simgrid_parameters(parameters);
  if (!lists) return lists.error();
  const std::vector<std::uint32_t>& extent = lists->front();
  double expected = 1;
  for (const std::uint32_t width : extent) expected *= width;
  if (lists->size() != 1 || expected != static_cast<double>(hosts.size()))
    return wrong_hosts(parameters, expected, hosts.size());
  for (std::uint32_t rank = 0; rank < hosts.size(); ++rank) {
    std::uint32_t step = 1;  // between neighbours; the first dimension runs fastest
    for (const std::uint32_t width : extent) {
      const std::uint32_t at = rank / step % width;
      if (width > 1)
        both_ways(graph, links, hosts[rank],
                  hosts[rank + (at + 1 < width ? step : step - step * width)]);
      step *= width;
    }
  }
  graph.set_grid(grid_of(extent));
  return base::Done{};
}

base::Status make_simgrid_dragonfly(MediaGraph& graph, const ClusterLinks& links,
                                    const std::vector<Node>& hosts, const std::string& parameters) {
  const auto lists = simgrid_parameters(parameters);
  if (!lists) return lists.error();
  const Lists& p = *lists;
  if (p.size() != 4 || p[0].size() != 2 || p[1].size() != 2 || p[2].size() != 2 ||
      p[3].size() != 1) {
    return base::Error{"'" + parameters +
                       "' must be groups,links;chassis,links;routers,links;hosts"};
  }
  const std::uint32_t groups = p[0][0], chassis = p[1][0], routers = p[2][0], nodes = p[3][0];
  const double expected = 1.0 * groups * chassis * routers * nodes;
  if (expected != static_cast<double>(hosts.size()))
    return wrong_hosts(parameters, expected, hosts.size());
  const std::uint32_t in_group = chassis * routers;
  if (groups > in_group)
    return base::Error{
        "'" + parameters +
        "' has more groups than routers in a group, each of which has one link to another"};
  std::vector<Node> all;
  for (std::uint32_t at = 0; at < groups * in_group; ++at) {
    all.push_back(graph.add_switch(links.name + ".r" + std::to_string(at / in_group) + "." +
                                   std::to_string(at / routers % chassis) + "." +
                                   std::to_string(at % routers)));
    for (std::uint32_t node = 0; node < nodes; ++node)
      both_ways(graph, links, hosts[at * nodes + node], all.back());
  }
  for (std::uint32_t at = 0; at < all.size(); ++at) {
    for (std::uint32_t other = at + 1; other < (at / routers + 1) * routers; ++other)
      both_ways(graph, links, all[at], all[other], p[2][1]);
    for (std::uint32_t other = at + routers; other < (at / in_group + 1) * in_group;
         other += routers)
      both_ways(graph, links, all[at], all[other], p[1][1]);
  }
  for (std::uint32_t one = 0; one < groups; ++one) {
    for (std::uint32_t other = one + 1; other < groups; ++other) {
      both_ways(graph, links, all[one * in_group + other], all[other * in_group + one], p[0][1]);
    }
  }
  return base::Done{};
}

}  // namespace fathom::simulator
