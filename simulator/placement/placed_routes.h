// SPDX-License-Identifier: BSD-3-Clause
// Where networks, placements and routers meet the flow model and the replay, which know links by
// number only: the ways between the processes of a placed job, one for each ordered pair of hosts.
//
// Routed once, with the job's own traffic between hosts as demand (1 byte where there is none), so
// that routers that look at the load see it. Memory: the ways of all pairs of hosts that the job
// uses. Threading: any number of threads may read it.
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

class PlacedRoutes {
 public:
  // `background` is what other jobs put on the links. An Error if there is no way between two
  // hosts, or if the router splits demands over several ways.
  static base::Result<PlacedRoutes> make(const Network& network, const Job& job,
                                         const Placement& placement, const RouterRow& router,
                                         std::uint64_t seed, const LinkUse& background);

  // Links between the hosts of two ranks; none if they share one. Valid as long as this object.
  std::span<const LinkId> between(std::uint32_t from, std::uint32_t to) const {
    return ways_.way(static_cast<std::size_t>(place_[from]) * host_count_ + place_[to]);
  }

  // All that the job sends, as one phase: every pair's bytes are one flow. Messages to oneself are
  // left out. This object must outlive the phase.
  Phase phase(const Job& job, double computation_s) const;

  // For replay(). This object and `flows`, which is made of link_speeds(), must outlive it.
  ReplayNetwork replay_network(FlowModel& flows) const;

 private:
  PlacedRoutes(std::vector<std::uint32_t> place, std::size_t host_count)
      : place_(std::move(place)), host_count_(host_count), ways_(host_count * host_count) {}

  std::vector<std::uint32_t> place_;  // by rank: which of the job's hosts
  std::size_t host_count_;
  RouteTable ways_;  // by from * host_count_ + to
};

}  // namespace fathom::simulator
