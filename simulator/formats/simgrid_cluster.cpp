// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/simgrid_cluster.h"

namespace fathom::simulator {

using Node = MediaGraph::Node;

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

StarRoutes::StarRoutes(MediaGraph& graph, const std::string& router,
                       const std::optional<Cable>& backbone)
    : router_(graph.add_switch(router)), inward_(router_), outward_(router_) {
  if (!backbone) return;
  inward_ = graph.add_switch(router + ".in");
  outward_ = graph.add_switch(router + ".out");
  backbone_ = graph.add_way(inward_, backbone->up, outward_);
  const MediaGraph::Way down = graph.add_way(outward_, {}, router_);
  router_arm_ = Arm{graph.add_way(router_, {}, inward_), down};
}

void StarRoutes::add_host(MediaGraph& graph, SimgridZones::Point point, Node host, const Cable& own,
                          const Cable& limiter) {
  std::vector<MediaGraph::Medium> up = limiter.up, down = own.down;
  up.insert(up.end(), own.up.begin(), own.up.end());
  down.insert(down.end(), limiter.down.begin(), limiter.down.end());
  const MediaGraph::Way inward = graph.add_way(host, up, inward_);
  arms_[point] = {inward, graph.add_way(outward_, down, host)};
}

const StarRoutes::Arm* StarRoutes::arm_of(SimgridZones::Point point) const {
  if (point == router_point_) return router_arm_ ? &*router_arm_ : nullptr;
  const auto arm = arms_.find(point);
  return arm == arms_.end() ? nullptr : &arm->second;
}

bool StarRoutes::find(SimgridZones::Point source, SimgridZones::Point target,
                      SimgridZones::Route& route) const {
  const Arm *from = arm_of(source), *to = arm_of(target);
  if ((!from && source != router_point_) || (!to && target != router_point_)) return false;
  route = {};
  if (from) route.parts.push_back({from->up});
  if (backbone_) route.parts.push_back({*backbone_});
  if (to) route.parts.push_back({to->down});
  return true;
}

}  // namespace fathom::simulator
