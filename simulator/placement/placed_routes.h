// SPDX-License-Identifier: BSD-3-Clause
// Connects networks, placements and routers with the flow model and the replay, which know links by
// number only: the paths between the processes of a placed job, one per ordered pair of hosts.
//
// Routed once, with the job's own traffic between hosts as demand (1 byte where there is none), so
// that load-aware routers see it. Memory: the paths of all pairs of hosts that the job uses.
// Threading: any number of threads may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "simulator/flow/flow_model.h"
#include "simulator/flow/phases.h"
#include "simulator/jobs/job.h"
#include "simulator/loggops/replay.h"
#include "simulator/network/network.h"
#include "simulator/placement/placement.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

std::vector<LinkSpeed> link_speeds(const Network& network);

// The path of each demand. `router` was made by `row`. An Error if two hosts have no path between
// them, or if the router splits demands over several paths.
base::Result<RouteTable> whole_routes(const RouterRow& row, Router& router,
                                      std::span<const Demand> demands, const LinkUse& background);

class PlacedRoutes {
 public:
  // `background` is the load of other jobs on the links. An Error if two hosts have no path between
  // them, or if the router splits demands over several paths.
  static base::Result<PlacedRoutes> make(const Network& network, const Job& job,
                                         const Placement& placement, const RouterRow& router,
                                         std::uint64_t seed, const LinkUse& background);

  // Links between the hosts of two ranks; none if they share one. Valid as long as this object.
  std::span<const LinkId> between(std::uint32_t from, std::uint32_t to) const {
    return ways_.way(static_cast<std::size_t>(place_[from]) * host_count_ + place_[to]);
  }

  // Everything the job sends, as one phase with one flow per pair. Messages to oneself are left
  // out. This object must outlive the phase.
  Phase phase(const Job& job, double computation_s) const;

  // For replay(). This object must outlive it, and so must `flows`, which is created from
  // link_speeds().
  ReplayNetwork replay_network(FlowModel& flows) const;

 private:
  PlacedRoutes(std::vector<std::uint32_t> place, std::size_t host_count, RouteTable ways)
      : place_(std::move(place)), host_count_(host_count), ways_(std::move(ways)) {}

  std::vector<std::uint32_t> place_;  // by rank: index of its host among the job's hosts
  std::size_t host_count_;
  RouteTable ways_;  // indexed by from * host_count_ + to
};

}  // namespace fathom::simulator
