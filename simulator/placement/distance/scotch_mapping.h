// SPDX-License-Identifier: BSD-3-Clause
// Placements by Scotch (F. Pellegrini, J. Roman, SCOTCH: A software package for static mapping by dual
// recursive bipartitioning of process and architecture graphs, HPCN 1996), from which the search for a
// better one starts.
//
// Scotch is told the hosts' distances, their slots, and how to halve them: by planes on grids, and as
// they are numbered elsewhere, which mostly follows groups and subtrees. Where one rank goes to each
// switch of a torus or mesh, it is also given that grid itself.
#pragma once

#include <cstddef>
#include <vector>

#include "simulator/placement/distance/place_costs.h"

namespace fathom::simulator {

bool has_scotch();  // whether Fathom was built with it

// None if it was not, or if there are more hosts than kMostScotchHosts. The same costs give the same
// placements. Safe to call from several threads, one of which runs at a time.
std::vector<Places> scotch_mappings(const PlaceCosts& costs);

inline constexpr std::size_t kMostScotchHosts = 4096;  // its table of distances then takes 270 MB

}  // namespace fathom::simulator
