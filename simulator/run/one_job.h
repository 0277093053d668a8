// SPDX-License-Identifier: BSD-3-Clause
// One job alone on a cluster: hosts chosen, processes placed, demands routed, links loaded.
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
  const SelectorRow* selector = nullptr;  // may be missing if `hosts` are given
  std::vector<HostId> hosts;              // takes the place of a selection
  Placement placement;  // takes the place of both selection and mapper, if not empty
  std::string placement_from = "file";  // what results call that
  const MapperRow* mapper = nullptr;
  const RouterRow* router = nullptr;
  std::uint64_t seed = 1;
};

struct PlacedJob {
  Placement placement;
  std::vector<Demand> demands;
};

// What stands in results for the selection and the placement.
std::string selection_name(const Choice& choice);
std::string placement_name(const Choice& choice);

// The Error says which step failed and why.
base::Result<PlacedJob> place_job(const Network& network, const Job& job, const Choice& choice);

struct LoadRun {
  std::string selection, placement,
      routing;  // names; selection "hosts" or "file" where they were given
  std::uint64_t seed = 1;
  LinkUse use;
  double congestion_bound = 0;  // as Router::congestion_bound()
};

// Hands the ways of a placed job to `sink`, on a network that has nothing else to carry.
base::Status route_job(const Network& network, const PlacedJob& placed, const Choice& choice,
                       RouteSink& sink);

base::Result<LoadRun> run_link_load(const Network& network, const Job& job, const Choice& choice);

}  // namespace fathom::simulator
