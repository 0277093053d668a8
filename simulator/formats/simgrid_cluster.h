// SPDX-License-Identifier: BSD-3-Clause
// Clusters in SimGrid's platform files: hosts around a router, fat trees, tori and dragonflies, and
// SimGrid's own routes in them.
//
// A cluster without a topology is a star: each host's link leads to the cluster's router, over the
// backbone if there is one, which all traffic of the cluster crosses. Fat trees are XGFTs
// (simulator/topology/tree.h) in which `parallel` cables join two switches; routes are D-mod-K
// (FatTreeZone). In a torus the hosts forward traffic themselves, dimension after dimension
// (TorusZone; routing `dor` takes the same paths). In a dragonfly (DragonflyZone) each group is a
// grid of chassis by routers. Routers in the same chassis are all linked to each other, and so are
// routers at the same position in their chassis. Router j of group i has the one link to group j,
// which ends at router i there.
//
// A limiter is a link that all traffic of a host shares, whatever its direction; in a cluster with a
// topology, switches have one too, and what a host or switch forwards crosses its limiter once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "simulator/formats/media_graph.h"
#include "simulator/formats/simgrid_zones.h"

namespace fathom::simulator {

// A cable in SimGrid's sense: one medium per direction, or one for both.
struct Cable {
  std::vector<MediaGraph::Medium> up, down;  // empty, or one
};

enum class Sharing { kSplitDuplex, kShared, kFatPipe };

Cable add_cable(MediaGraph& graph, const std::string& name, double capacity_Bps, double latency_s,
                Sharing sharing);

class StarRoutes : public SimgridZones::LocalRoutes {
 public:
  // `backbone` leads from where hosts' links end to where they begin. Without one, both are the
  // router.
  StarRoutes(MediaGraph& graph, const std::string& router, const std::optional<Cable>& backbone);

  // Traffic to the router itself crosses the backbone too.
  MediaGraph::Node router() const { return router_; }
  void add_router(SimgridZones::Point point) { router_point_ = point; }
  // `limiter` is shared by both directions; empty if there is none.
  void add_host(MediaGraph& graph, SimgridZones::Point point, MediaGraph::Node host,
                const Cable& own, const Cable& limiter);

  bool find(SimgridZones::Point source, SimgridZones::Point target,
            SimgridZones::Route& route) const override;

 private:
  struct Arm {
    MediaGraph::Way up, down;
  };
  const Arm* arm_of(SimgridZones::Point point) const;

  MediaGraph::Node router_, inward_, outward_;
  std::optional<MediaGraph::Way> backbone_;
  std::optional<Arm> router_arm_;  // with a backbone
  SimgridZones::Point router_point_ = kNoId;
  std::unordered_map<SimgridZones::Point, Arm> arms_;
};

struct ClusterLinks {
  std::string name;  // of the cluster; its switches are NAME.…
  double capacity_Bps = 0, latency_s = 0;
  Sharing sharing = Sharing::kSplitDuplex;
  std::optional<double> limiter_Bps = {};
};

// The hosts of a cluster, in the order of SimGrid's radical. Their points follow each other.
struct ClusterHosts {
  SimgridZones::Point first = 0;
  std::vector<MediaGraph::Node> nodes;
};

// The Error says what is wrong with the parameters (topo_parameters), for example that they describe
// a different number of hosts.
using RegularRoutes = base::Result<std::unique_ptr<SimgridZones::LocalRoutes>>;
RegularRoutes make_fat_tree(MediaGraph& graph, const ClusterLinks& links, const ClusterHosts& hosts,
                            const std::string& parameters);
RegularRoutes make_simgrid_torus(MediaGraph& graph, const ClusterLinks& links,
                                 const ClusterHosts& hosts,
                                 const std::string& parameters);  // hosts forward
RegularRoutes make_simgrid_dragonfly(MediaGraph& graph, const ClusterLinks& links,
                                     const ClusterHosts& hosts, const std::string& parameters);

}  // namespace fathom::simulator
