// SPDX-License-Identifier: BSD-3-Clause
// Recognises ranks that exchange with their neighbours on a grid, whatever their numbering.
//
// A grid of any number of dimensions is the Cartesian product of paths (open dimensions) and rings
// (periodic ones). Factors are found as in W. Imrich, I. Peterin, Recognizing Cartesian products in
// linear time, Discrete Math. 307, 2007, with the local relation: two edges at a rank belong to the
// same dimension unless they span exactly one square without a diagonal, and opposite edges of such a
// square belong to the same dimension. A ring of four is the product of two paths of two.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/jobs/rank_graph.h"

namespace fathom::simulator {

struct RankGrid {
  std::vector<std::uint32_t> ranks;   // on the grid, ascending; others have no partner
  std::vector<std::uint32_t> extent;  // by dimension; the product is the number of these ranks
  std::vector<char> periodic;         // by dimension
  // By position in `ranks`, then by dimension.
  std::vector<std::vector<std::uint32_t>> coordinates;
};

// Looks at pairs that exchange at least `least_bytes`, so that a light pattern on top of a grid does
// not hide it. nullopt if what they form is no grid of at least two ranks. Cost: O(pairs * partners)
// if partners are few; gives up on ranks with more than 32 partners.
std::optional<RankGrid> find_rank_grid(const RankGraph& graph, double least_bytes);

}  // namespace fathom::simulator
