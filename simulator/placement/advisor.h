// SPDX-License-Identifier: BSD-3-Clause
// Searches a better placement for a job on given hosts, and a better routing if there is a choice.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "simulator/placement/objective.h"
#include "simulator/placement/search.h"

namespace fathom::simulator {

struct AdviceRequest {
  const Network& network;
  const Job& job;
  std::vector<HostId> hosts;              // that the job may use; slots enough
  Placement present;                      // one of these hosts for each rank
  std::vector<const RouterRow*> routers;  // one or more; the first is the present one
  Objective objective = Objective::kCongestion;
  std::uint64_t seed = 1;
  SearchEffort effort;
  bool with_time = true;
};

struct Candidate {
  std::string placement, routing;  // names; placement "present" is what there is
  Placement places;
  Scores scores;
};

struct Advice {
  std::vector<Candidate> candidates;  // the present one first, then by objective, best first
  Scores bounds;
};

// Tries every mapper of the registry with every router; from the best placement for each router,
// and from the present one, local search goes on ("improved"). Nothing is worse than the present
// candidate if that stands first among the rest. An Error names what failed.
base::Result<Advice> advise(const AdviceRequest& request);

}  // namespace fathom::simulator
