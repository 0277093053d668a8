// SPDX-License-Identifier: BSD-3-Clause
// Search for the placement with the least hop-bytes on shortest paths, or host-bytes.
//
// Starts: block, treematch, Scotch's mappings, recursive bisection in several styles, and a grid of ranks
// on a box of hosts (distance/grid_placement.h) where there are such. The best starts are annealed
// (distance/annealing.h) at three temperatures each; the better runs go on with more moves, the best
// one longest. The search ends early at the bound of the nearest places (objective.h). The same seed
// and effort give the same result on any machine, at any speed.
#pragma once

#include <cstdint>
#include <functional>

#include "simulator/placement/distance/place_costs.h"
#include "simulator/placement/objective.h"

namespace fathom::simulator {

// Called from time to time with what is being done, and the part of it that is done, 0 to 1.
using SearchProgress = std::function<void(const char* what, double part)>;

struct SearchEffort {
  // Number of moves to try. 0: 60,000 per rank, but at least 1 and at most 60 million; 20 million above
  // 2,048 ranks, whose distances no longer fit the caches.
  std::uint64_t moves = 0;
  SearchProgress progress = {};

  std::uint64_t moves_of(const Job& job) const;
};

base::Result<Places> search_places(const PlacementRequest& request, const PlaceCosts& costs,
                                   const SearchEffort& effort = {});

// A placement: hop-bytes on shortest paths.
base::Result<Placement> place_search(const PlacementRequest& request);

}  // namespace fathom::simulator
