// SPDX-License-Identifier: BSD-3-Clause
// How well the traffic of a graph fits one grid.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/traffic/pattern_match.h"

namespace fathom::analysis {

inline constexpr std::size_t kMostDimensions = 6;

using Extents = std::vector<std::int64_t>;

// `place`: of each node, row-major; empty: the node's number. None if a dimension's neighbours do
// not communicate (fewer than `present` of them do).
std::optional<Match> fit_grid(const PatternGraph& graph, const Extents& extents,
                              const std::vector<std::uint32_t>& place, double present);

}  // namespace fathom::analysis
