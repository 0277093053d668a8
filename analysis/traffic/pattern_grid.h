// SPDX-License-Identifier: BSD-3-Clause
// Nearest neighbours on grids of one to six dimensions.
//
// A rank's place is row-major: place = (… (c0 * e1 + c1) * e2 + …), as MPI_Cart_create numbers
// them. A dimension of extent 3 or more is periodic if its ends talk to each other. Along each
// dimension one direction or both are used; both along all is a halo exchange, one direction on a
// closed line is a ring. Diagonal neighbours belong to it if (nearly) all of them talk.
//
// natural_grid() looks for grids whose ranks lie in their own order. Strides are distances |source
// - destination| that enough pairs have, and divide the number of ranks; the grids of each chain of
// strides that divide one another are tried, those with the most traffic at their strides first.
//
// renumbered_grid() finds grids whatever the numbering: the graph of a grid is the Cartesian
// product of paths and cycles, and the product's factors are found from its squares. Two edges at a
// node that span exactly one square belong to different dimensions, and opposite edges of a square
// to the same; two that span none, or a triangle, belong to the same (the relation of Imrich and
// Klavžar, Product Graphs, 2000, chapter 4). Without the edges of one dimension the graph falls
// into that dimension's layers, and the layers' order is the coordinate. A closed line of four is
// the product of two lines of two; where the longer dimensions are all closed, lines of two are
// taken in pairs for closed lines of four; where nothing but lines of two comes out, the graph is a
// hypercube.
#pragma once

#include <optional>

#include "analysis/scope/thresholds.h"
#include "analysis/traffic/pattern_match.h"

namespace fathom::analysis {

// Cost: edges times grids tried (at most eight).
std::optional<Match> natural_grid(const PatternGraph& graph, const Thresholds& thresholds);

// Cost: nodes times degree cubed; graphs with a node of more than twelve neighbours are left alone.
std::optional<Match> renumbered_grid(const PatternGraph& graph, const Thresholds& thresholds);

}  // namespace fathom::analysis
