// SPDX-License-Identifier: BSD-3-Clause
// How a run's time is divided: levels of bins, each level's a quarter as long as those before it.
//
// Level 0 is one tile of kBins bins. The last level is the finest whose bins hold kEventsPerBin events of a
// process on average or more: from there on, the trace itself is as quick to read.
//
// Processes are divided likewise. Depth 0 has a line for each; each next depth has one for kGroup lines of the
// depth before, until all lines are one row of tiles.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fathom::view {

inline constexpr std::uint64_t kBins = 256, kRows = 64, kEventsPerBin = 32, kGroup = 8;
inline constexpr std::uint32_t kMostLevels = 12, kMostDepths = 12;

struct Geometry {
  std::uint64_t from_ns = 0, to_ns = 1;  // to_ns: after the last event
  std::uint64_t finest_ns = 1;           // length of a bin of the last level
  std::uint32_t levels = 1, processes = 0;

  std::uint64_t bin_ns(std::uint32_t level) const {
    return finest_ns << (2 * (levels - 1 - level));
  }
  std::uint64_t bins(std::uint32_t level) const {
    return (to_ns - from_ns + bin_ns(level) - 1) / bin_ns(level);
  }
  std::uint64_t columns(std::uint32_t level) const { return (bins(level) + kBins - 1) / kBins; }

  std::uint32_t depths() const {
    std::uint32_t depth = 0;
    while (lines(depth) > kRows) ++depth;
    return depth + 1;
  }
  std::uint64_t group(std::uint32_t depth) const {  // processes of a line; of the last one, fewer
    return std::uint64_t{1} << (3 * depth);
  }
  std::uint64_t lines(std::uint32_t depth) const {
    return (processes + group(depth) - 1) / group(depth);
  }
  std::uint64_t first_line(std::uint32_t depth) const {  // where a layer has them
    std::uint64_t first = 0;
    for (std::uint32_t finer = 0; finer < depth; ++finer) first += lines(finer);
    return first;
  }
  std::uint64_t all_lines() const { return first_line(depths()); }
  std::uint64_t rows(std::uint32_t depth) const { return (lines(depth) + kRows - 1) / kRows; }

  bool operator==(const Geometry&) const = default;
};
static_assert(kGroup == 1 << 3);

inline Geometry geometry_of(std::uint64_t from_ns, std::uint64_t last_ns, std::uint64_t events,
                            std::uint32_t processes) {
  Geometry geometry;
  geometry.from_ns = from_ns;
  geometry.to_ns = std::max(last_ns, from_ns) + 1;
  geometry.processes = processes;
  const std::uint64_t wanted = events / kEventsPerBin / std::max(processes, 1u);
  std::uint64_t bins = kBins;
  while (bins * 4 <= wanted && geometry.levels < kMostLevels) {
    bins *= 4;
    ++geometry.levels;
  }
  const std::uint64_t span_ns = geometry.to_ns - geometry.from_ns;
  geometry.finest_ns = std::max<std::uint64_t>(1, (span_ns + bins - 1) / bins);
  return geometry;
}

}  // namespace fathom::view
