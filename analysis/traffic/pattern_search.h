// SPDX-License-Identifier: BSD-3-Clause
// Decomposes the traffic of one class into patterns (rules: patterns.h).
#pragma once

#include <vector>

#include "analysis/scope/thresholds.h"
#include "analysis/traffic/pattern_match.h"

namespace fathom::analysis {

// A pattern, found once or in several parts of the traffic.
struct FoundPattern {
  Match shape;  // of the first group; its edges are unused, its hub is a world rank
  std::uint64_t groups = 0;
  std::vector<std::uint32_t> ranks;  // world ranks, ascending
  std::vector<Edge> edges;           // world ranks; the weight explained
  double explained = 0;              // weight
  double present = 1;                // the least of all groups
};

// `cartesian`: the program arranged its ranks in a grid; a hypercube then counts as a grid.
std::vector<FoundPattern> search_patterns(std::vector<Edge> edges, bool cartesian,
                                          const Thresholds& thresholds);

}  // namespace fathom::analysis
