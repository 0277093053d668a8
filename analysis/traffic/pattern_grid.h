// SPDX-License-Identifier: BSD-3-Clause
// Nearest neighbours on grids of one to six dimensions.
//
// A rank's place is row-major: place = (… (c0 * e1 + c1) * e2 + …), as MPI_Cart_create numbers
// ranks. A dimension of extent 3 or more is periodic if its ends communicate. Along each dimension
// one direction or both are used; both along all dimensions is a halo exchange, one direction on a
// closed line is a ring. Diagonal neighbours are included if (nearly) all of them communicate.
//
// natural_grid() looks for grids whose ranks are in their own order. Strides are distances |source
// - destination| that enough pairs have and that divide the number of ranks. For each chain of
// strides that divide one another it tries the grid, starting with those that have the most traffic
// at their strides.
//
// renumbered_grid() finds grids under any numbering. The graph of a grid is the Cartesian product
// of paths and cycles, and its squares reveal the factors: two edges at a node that span exactly
// one square belong to different dimensions, opposite edges of a square to the same one; two that
// span no square, or a triangle, belong to the same (the relation of Imrich and Klavžar, Product
// Graphs, 2000, chapter 4). Without the edges of one dimension the graph falls apart into that
// dimension's layers, and the order of the layers is the coordinate. A cycle of four equals the
// product of two lines of two: if the longer dimensions are all closed, lines of two are paired
// into cycles of four; if there are only lines of two, the graph is a hypercube.
#pragma once

#include <optional>

#include "analysis/scope/thresholds.h"
#include "analysis/traffic/pattern_match.h"

namespace fathom::analysis {

// Cost: edges times grids tried (at most eight).
std::optional<Match> natural_grid(const PatternGraph& graph, const Thresholds& thresholds);

// Cost: nodes times degree cubed; graphs with a node of more than twelve neighbours are skipped.
std::optional<Match> renumbered_grid(const PatternGraph& graph, const Thresholds& thresholds);

}  // namespace fathom::analysis
