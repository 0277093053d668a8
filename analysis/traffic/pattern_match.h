// SPDX-License-Identifier: BSD-3-Clause
// What a search for one pattern gives: which edges of a graph it explains, and how complete it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "analysis/traffic/pattern_graph.h"

namespace fathom::analysis {

// A pair with less than this part of the usual weight of its step does not count.
inline constexpr double kFaint = 8;

struct Match {
  std::string kind;                   // "halo", "ring", "star", …
  std::vector<std::int64_t> extents;  // of a grid, slowest dimension first
  std::vector<bool> periodic;         // by dimension
  bool corners = false;               // diagonal neighbours too
  bool rank_order = true;             // ranks lie in the grid in their own order
  std::int64_t hub = profile::kNone;  // node of the graph
  std::string alternative;            // what the same counts may also be

  std::vector<std::uint32_t> edges;  // positions in the graph's edges
  double level =
      std::numeric_limits<double>::infinity();  // an edge explains no more weight than this
  double present = 0;  // of the pairs that the pattern has, the part that talked: 0 to 1

  double explained(const PatternGraph& graph) const {
    double sum = 0;
    for (const std::uint32_t edge : edges) sum += std::min(graph.edges()[edge].weight, level);
    return sum;
  }
};

}  // namespace fathom::analysis
