// SPDX-License-Identifier: BSD-3-Clause
// One job alone on a cluster: select hosts, place processes, route demands, load links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulator/jobs/job.h"
#include "simulator/placement/placement.h"
#include "simulator/routing/link_load.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

struct Choice {
  const SelectorRow* selector = nullptr;  // may be null if `hosts` are given
  std::vector<HostId> hosts;              // replaces the selection
  Placement given_placement;              // if not empty, replaces selection and placement
  std::string placement_from = "file";    // how results name that
  const PlacementRow* placement = nullptr;
  const RouterRow* router = nullptr;
  std::uint64_t seed = 1;
};

struct PlacedJob {
  Placement placement;
  std::vector<Demand> demands;
};

// Names of the selection and the placement in results.
std::string selection_name(const Choice& choice);
std::string placement_name(const Choice& choice);

// The Error says which step failed and why.
base::Result<PlacedJob> place_job(const Network& network, const Job& job, const Choice& choice);

struct LoadRun {
  std::string selection, placement,
      routing;  // names; selection "hosts" or "file" where they were given
  std::uint64_t seed = 1;
  LinkUse use;
  double congestion_bound = 0;  // see Router::congestion_bound()
};

// Passes the paths of a placed job to `sink`, on a network that carries nothing else.
base::Status route_job(const Network& network, const PlacedJob& placed, const Choice& choice,
                       RouteSink& sink);

base::Result<LoadRun> run_link_load(const Network& network, const Job& job, const Choice& choice);

}  // namespace fathom::simulator
