// SPDX-License-Identifier: BSD-3-Clause
// Searches for a better placement of a job on given hosts, and for a better routing if there is a
// choice.
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
  std::vector<HostId> hosts;              // hosts that the job may use; they have enough slots
  Placement present;                      // by rank: one of these hosts
  std::vector<const RouterRow*> routers;  // at least one; the first is the present one
  Objective objective = Objective::kCongestion;
  std::uint64_t seed = 1;
  SearchEffort effort;
};

struct Candidate {
  std::string placement, routing;  // names; placement "present" is the current one
  Placement places;
  Scores scores;
};

struct Advice {
  std::vector<Candidate> candidates;  // the present one first, the rest by objective, best first
  Scores bounds;
};

// Tries every registered placement with every router. For each router, local search then improves the
// best candidate so far, which may be the present one, until that no longer helps ("improved"). The
// first candidate after the present one is the best found, which may be no better than it. Scores of
// time are computed only if that is the objective, because a simulation of all flows takes far longer
// than everything else; otherwise they are 0. An Error names what failed.
base::Result<Advice> advise(const AdviceRequest& request);

}  // namespace fathom::simulator
