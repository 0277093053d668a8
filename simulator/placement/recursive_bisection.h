// SPDX-License-Identifier: BSD-3-Clause
// Dual recursive bisection (F. Pellegrini, Static mapping by dual recursive bipartitioning of process
// and architecture graphs, SHPCC 1994): splits the hosts where they are far apart and the ranks where
// little traffic crosses, then recurses into both halves down to single hosts. All groups of one size
// are split before the next smaller ones.
//
// Hosts of a torus, mesh or HyperX are cut by a plane across the longest dimension. METIS proposes a
// cut of the ranks. Then ranks are exchanged between the halves (B. Kernighan, S. Lin, 1970; C.
// Fiduccia, R. Mattheyses, 1982), and terminals count: what a rank exchanges with a rank outside the
// group draws it to the half that is nearer to that rank's region. METIS stays in the .cpp.
#pragma once

#include "simulator/placement/distance/place_costs.h"
#include "simulator/placement/placement.h"

namespace fathom::simulator {

// Whether Fathom was built with METIS. Without it place_bisection() is an Error.
bool has_bisection();

// Cost: METIS's, O(pairs * log(hosts)), plus computing the hosts' distances.
base::Result<Placement> place_bisection(const PlacementRequest& request);

// Variants, of which now one and now another leads to the better placement.
struct BisectionStyle {
  double cut_weight = 1;  // of pairs that are cut, beside the pull of terminals
  bool terminals_in_proposal =
      false;  // whether METIS knows of terminals, or only the exchange does
  // Whether hosts that are on no grid are halved as they are numbered, which mostly follows groups and
  // subtrees, or where they are far apart.
  bool by_number = false;
};

// The same for distances that are known.
base::Result<Places> bisected(const PlaceCosts& costs, const BisectionStyle& style,
                              std::uint64_t seed);

}  // namespace fathom::simulator
