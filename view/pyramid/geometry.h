// SPDX-License-Identifier: BSD-3-Clause
// How a run's time is divided: levels of bins, each level's a quarter as long as those before it.
//
// Level 0 is one tile of kBins bins. The last level is the finest whose bins hold kEventsPerBin events of a
// process on average or more: from there on, the trace itself is as quick to read.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fathom::view {

inline constexpr std::uint64_t kBins = 256, kRows = 64, kEventsPerBin = 32;
inline constexpr std::uint32_t kMostLevels = 12;

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
  std::uint64_t rows() const { return (processes + kRows - 1) / kRows; }

  bool operator==(const Geometry&) const = default;
};

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
