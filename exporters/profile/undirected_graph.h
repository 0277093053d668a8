// SPDX-License-Identifier: BSD-3-Clause
// The job as mapping and partitioning tools want it: an undirected graph of ranks without self
// loops, the weight of an edge being what went in both directions together.
#pragma once

#include <cstdint>
#include <vector>

#include "exporters/common/exporter.h"

namespace fathom::exporters {

struct Neighbour {
  std::int64_t rank = 0;
  std::uint64_t weight = 0;  // never 0
};

struct HalfEdge {
  std::int64_t from = 0;
  Neighbour to;
};

struct UndirectedGraph {
  std::int64_t ranks = 0;
  std::vector<HalfEdge> half_edges;  // each edge twice, ascending by (from, to)
};

// Notes what is left out: messages to oneself and pairs without weight.
UndirectedGraph undirected_graph(const profile::Profile& profile, const Options& options,
                                 Notes& notes);

// Makes the weights small enough that the sum over all half edges fits a signed 32-bit integer,
// which METIS and Scotch are usually built with: every weight is divided by the same number and
// rounded up, so that none becomes 0. Notes the divisor; does nothing where nothing is needed.
void scale_to_int32(UndirectedGraph& graph, Notes& notes);

// Calls line(neighbours_begin, neighbours_end) once for each rank in order, those without any
// included.
template <typename Line>
void for_each_rank(const UndirectedGraph& graph, Line line) {
  auto begin = graph.half_edges.begin();
  for (std::int64_t rank = 0; rank < graph.ranks; ++rank) {
    auto end = begin;
    while (end != graph.half_edges.end() && end->from == rank) ++end;
    line(begin, end);
    begin = end;
  }
}

}  // namespace fathom::exporters
