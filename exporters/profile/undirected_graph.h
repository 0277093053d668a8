// SPDX-License-Identifier: BSD-3-Clause
// The job as mapping and partitioning tools expect it: an undirected graph of ranks without self
// loops, whose edge weights are the traffic in both directions together.
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

// Notes what it leaves out: messages to oneself and pairs without weight.
UndirectedGraph undirected_graph(const profile::Profile& profile, const Options& options,
                                 Notes& notes);

// Makes the weights so small that their sum over all half edges fits a signed 32-bit integer, the
// type with which METIS and Scotch are usually built: divides every weight by the same number and
// rounds up, so that none becomes 0. Notes the divisor; does nothing if the sum already fits.
void scale_to_int32(UndirectedGraph& graph, Notes& notes);

// Calls line(neighbours_begin, neighbours_end) once for each rank in order, including ranks without
// neighbours.
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
