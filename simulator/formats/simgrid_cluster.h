// SPDX-License-Identifier: BSD-3-Clause
// Clusters in SimGrid's platform files: hosts around a router, fat trees, tori and dragonflies.
//
// A cluster without a topology is a star: each host's link leads to the cluster's router, over the
// backbone if there is one, which all traffic of the cluster crosses. Fat trees are XGFTs
// (simulator/topology/tree.h) in which `parallel` cables join two switches. In a torus the hosts
// forward traffic themselves (routing `dor` takes the same paths as SimGrid). In a dragonfly
// (SimGrid's DragonflyZone) each group is a grid of chassis by routers. Routers in the same chassis
// are all linked to each other, and so are routers at the same position in their chassis. Router j
// of group i has the one link to group j, which ends at router i there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulator/formats/media_graph.h"

namespace fathom::simulator {

// A cable in SimGrid's sense: one medium per direction, or one for both.
struct Cable {
  std::vector<MediaGraph::Medium> up, down;  // empty, or one
};

enum class Sharing { kSplitDuplex, kShared, kFatPipe };

Cable add_cable(MediaGraph& graph, const std::string& name, double capacity_Bps, double latency_s,
                Sharing sharing);

struct StarCluster {
  MediaGraph::Node inward = 0, outward = 0;  // where hosts' links end, and where they begin
  MediaGraph::Node router = 0;  // to the outside; traffic to the router itself crosses the backbone
                                // too
};

// `backbone` leads from inward to outward. Without one, all three nodes are the same.
StarCluster make_star(MediaGraph& graph, const std::string& router,
                      const std::optional<Cable>& backbone);

// A host's links: its own, and a limiter that both directions share, if there is one.
void join_star(MediaGraph& graph, const StarCluster& star, MediaGraph::Node host, const Cable& own,
               const Cable& limiter);

struct ClusterLinks {
  std::string name;  // of the cluster; its switches are NAME.…
  double capacity_Bps = 0, latency_s = 0;
};

// `hosts` are in the order of SimGrid's radical. The Error says what is wrong with the parameters
// (topo_parameters), for example that they describe a different number of hosts.
base::Status make_fat_tree(MediaGraph& graph, const ClusterLinks& links,
                           const std::vector<MediaGraph::Node>& hosts,
                           const std::string& parameters);
base::Status make_simgrid_torus(MediaGraph& graph, const ClusterLinks& links,
                                const std::vector<MediaGraph::Node>& hosts,
                                const std::string& parameters);  // hosts forward
base::Status make_simgrid_dragonfly(MediaGraph& graph, const ClusterLinks& links,
                                    const std::vector<MediaGraph::Node>& hosts,
                                    const std::string& parameters);

}  // namespace fathom::simulator
