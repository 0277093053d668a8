// SPDX-License-Identifier: BSD-3-Clause
// Patterns that are no grids. Each search costs a few passes over the edges; n is the number of
// ranks.
#pragma once

#include <optional>

#include "analysis/scope/thresholds.h"
#include "analysis/traffic/pattern_match.h"

namespace fathom::analysis {

// Three ranks or more, all with all. An edge explains no more than the usual weight of a pair: the
// median, or, where a tenth of the pairs has less than an eighth of that, the weight that nine in
// ten have. So a faint exchange of all with all below something else claims only its own part.
std::optional<Match> all_to_all(const PatternGraph& graph, const Thresholds& thresholds);

// One rank, the hub, with all the others. "master-worker" if most of them get messages and send
// some.
std::optional<Match> star(const PatternGraph& graph, const Thresholds& thresholds);

// r with r XOR 2^k, both ways. Where n is no power of two, as Open MPI's recursive doubling does it
// (coll_base_allreduce.c): of the first 2 (n - 2^m) ranks the even ones hand over to the odd ones.
std::optional<Match> butterfly(const PatternGraph& graph, const Thresholds& thresholds);

// r to (r + 2^k) mod n, one way: Bruck's algorithms.
std::optional<Match> dissemination(const PatternGraph& graph, const Thresholds& thresholds);

// Two ranks that talk with each other and nobody else, both ways.
std::optional<Match> ping_pong(const PatternGraph& graph, const Thresholds& thresholds);

// A tree that is neither star nor line; the hub is its root, where directions tell.
std::optional<Match> tree(const PatternGraph& graph, const Thresholds& thresholds);

}  // namespace fathom::analysis
