// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/undirected_graph.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "profile/pair_sums.h"

namespace fathom::exporters {

UndirectedGraph undirected_graph(const profile::Profile& profile, const Options& options,
                                 Notes& notes) {
  UndirectedGraph graph;
  graph.ranks = profile::rank_count(profile);
  std::size_t self_pairs = 0, weightless = 0;
  for (const profile::PairCount& pair :
       profile::symmetrised(profile::sum_pairs(profile, options.selection))) {
    const std::uint64_t weight = profile::by(options.metric, pair);
    if (pair.source == pair.destination) {
      ++self_pairs;
      // Partitioners take a weight of 0 for damage.
    } else if (weight == 0) {
      ++weightless;
    } else {
      graph.half_edges.push_back({pair.source, {pair.destination, weight}});
      graph.half_edges.push_back({pair.destination, {pair.source, weight}});
    }
  }
  std::sort(graph.half_edges.begin(), graph.half_edges.end(),
            [](const HalfEdge& left, const HalfEdge& right) {
              return std::pair(left.from, left.to.rank) < std::pair(right.from, right.to.rank);
            });
  notes.push_back("The graph is undirected: both directions of a pair are added up.");
  if (self_pairs > 0) {
    notes.push_back("Left out: what " + std::to_string(self_pairs) + " ranks sent to themselves.");
  }
  if (weightless > 0) {
    notes.push_back("Left out: " + std::to_string(weightless) +
                    " pairs that exchanged only empty messages.");
  }
  return graph;
}

void scale_to_int32(UndirectedGraph& graph, Notes& notes) {
  double sum = 0;
  for (const HalfEdge& edge : graph.half_edges) sum += static_cast<double>(edge.to.weight);
  constexpr double kLimit = std::numeric_limits<std::int32_t>::max();
  if (sum <= kLimit) return;
  // Leaves room for rounding up, which adds less than 1 for each half edge.
  const double room = std::max(1.0, kLimit - static_cast<double>(graph.half_edges.size()));
  const auto divisor = static_cast<std::uint64_t>(std::ceil(sum / room));
  for (HalfEdge& edge : graph.half_edges) {
    edge.to.weight = edge.to.weight / divisor + (edge.to.weight % divisor != 0 ? 1 : 0);
  }
  notes.push_back("Weights are divided by " + std::to_string(divisor) +
                  " and rounded up, so that their sum fits 32 bits.");
}

}  // namespace fathom::exporters
