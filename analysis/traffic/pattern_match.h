// SPDX-License-Identifier: BSD-3-Clause
// The result of a search for one pattern: the edges of a graph it explains, and how complete it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "analysis/traffic/pattern_graph.h"

namespace fathom::analysis {

// A pair whose weight is below the usual weight of its step divided by this does not count.
inline constexpr double kFaint = 8;

struct Match {
  std::string kind;                   // "halo", "ring", "star", …
  std::vector<std::int64_t> extents;  // of a grid, slowest dimension first
  std::vector<bool> periodic;         // by dimension
  bool corners = false;               // diagonal neighbours too
  bool rank_order = true;             // ranks are in the grid in their own order
  std::int64_t hub = profile::kNone;  // node of the graph
  std::string alternative;            // another pattern with the same counts

  std::vector<std::uint32_t> edges;  // indices into the graph's edges
  double level =
      std::numeric_limits<double>::infinity();  // upper limit of the weight that an edge explains
  double present = 0;                           // fraction of the pattern's pairs with traffic

  double explained(const PatternGraph& graph) const {
    double sum = 0;
    for (const std::uint32_t edge : edges) sum += std::min(graph.edges()[edge].weight, level);
    return sum;
  }
};

}  // namespace fathom::analysis
