// SPDX-License-Identifier: BSD-3-Clause
// Patterns that are not grids. Each search costs a few passes over the edges; n is the number of
// ranks.
#pragma once

#include <optional>

#include "analysis/scope/thresholds.h"
#include "analysis/traffic/pattern_match.h"

namespace fathom::analysis {

// At least three ranks, each with every other. An edge explains at most the usual weight of a pair:
// the median, or the weight that nine in ten pairs reach if a tenth have less than an eighth of the
// median. So a faint all-to-all beneath another pattern claims only its own part.
std::optional<Match> all_to_all(const PatternGraph& graph, const Thresholds& thresholds);

// All pairs of each row and of each column of a grid, ranks in row-major order, one side of four ranks
// or more: on smaller grids this is a halo exchange. Kind "rows-and-columns" (grid_patterns.h). Costs
// one pass for each number that divides n.
std::optional<Match> rows_and_columns(const PatternGraph& graph, const Thresholds& thresholds);

// One rank, the hub, with all others. "master-worker" if most of the others both receive and send.
std::optional<Match> star(const PatternGraph& graph, const Thresholds& thresholds);

// r with r XOR 2^k, both ways. If n is not a power of two, as in Open MPI's recursive doubling
// (coll_base_allreduce.c): among the first 2 (n - 2^m) ranks the even ones hand over to the odd
// ones.
std::optional<Match> butterfly(const PatternGraph& graph, const Thresholds& thresholds);

// r to (r + 2^k) mod n, one way: Bruck's algorithms.
std::optional<Match> dissemination(const PatternGraph& graph, const Thresholds& thresholds);

// Two ranks that communicate only with each other, both ways.
std::optional<Match> ping_pong(const PatternGraph& graph, const Thresholds& thresholds);

// A tree that is neither star nor line; the hub is its root, if directions reveal it.
std::optional<Match> tree(const PatternGraph& graph, const Thresholds& thresholds);

}  // namespace fathom::analysis
