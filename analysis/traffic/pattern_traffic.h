// SPDX-License-Identifier: BSD-3-Clause
// From the traffic of a class to what is searched in it, and from what was found there to a Pattern.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/traffic/class_traffic.h"
#include "analysis/traffic/grid_patterns.h"
#include "analysis/traffic/pattern_search.h"
#include "analysis/traffic/patterns.h"

namespace fathom::analysis {

// Of messages between different ranks: bytes, or else the number of messages.
double weight_of(const ClassTraffic& traffic, bool by_bytes);

// The pairs of different ranks that have such a weight.
std::vector<Edge> edges_of(const ClassTraffic& traffic, bool by_bytes);

// The kMostListed pairs of the greatest weight; of equal ones those of lower ranks.
std::vector<RankPair> heaviest(std::vector<Edge> edges);

// Number of ordered pairs in `lines` lines.
double pairs_in(std::int64_t lines, std::int64_t length);

// The mean of `pairs` pairs: those for which in_line(source, destination) holds.
template <typename InLine>
PairVolume volume_of(const std::vector<const ClassTraffic*>& parts, double pairs, InLine in_line) {
  PairVolume volume;
  for (const ClassTraffic* part : parts) {
    for (const profile::PairCount& pair : part->pairs) {
      if (pair.source == pair.destination || !in_line(pair.source, pair.destination)) continue;
      volume.bytes += static_cast<double>(pair.bytes) / pairs;
      volume.messages += static_cast<double>(pair.messages) / pairs;
    }
  }
  return volume;
}

// The traffic of a class on several communicators.
ClassTraffic sum_of(const std::vector<const ClassTraffic*>& parts);

// What was found in `traffic`, which is a part of a class of this weight. All-to-all in the rows or columns
// of a grid has the grid's extents and its final kind (grid_patterns.h).
Pattern pattern_of(const FoundPattern& found, const ClassTraffic& traffic, double class_weight);

// The same pattern, found on several communicators; at least one.
FoundPattern joined(std::vector<FoundPattern> all);

}  // namespace fathom::analysis
