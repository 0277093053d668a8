// SPDX-License-Identifier: BSD-3-Clause
// Intervals of one process, in order of time, as bins of all levels: how much of each bin they cover, and what
// the largest part of it belongs to (a function, a phase, a process that was waited for).
//
// Exact on every level: what a coarse bin is mostly about is decided from the sums inside it, not from what
// its finer bins are mostly about. Memory: 20 bytes for each bin.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "view/pyramid/geometry.h"

namespace fathom::view {

class DominantBins {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit DominantBins(const Geometry& geometry);

  // A part that was covered before does not count again.
  void add(std::uint64_t begin_ns, std::uint64_t end_ns, std::uint32_t key);
  void finish();  // after the last add()

  struct Level {
    std::vector<std::uint32_t> key;           // kNone: nothing was there
    std::vector<std::uint64_t> ns, total_ns;  // of the key; of all
  };
  const std::vector<Level>& levels() const { return levels_; }

 private:
  struct Open {
    std::uint64_t bin = 0;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> sums;  // ns by key: few
  };

  void put(std::size_t level, std::uint64_t bin, std::uint32_t key, std::uint64_t ns);
  void close(std::size_t level);

  const Geometry geometry_;
  std::vector<Level> levels_;
  std::vector<Open> open_;  // by level
  std::uint64_t covered_ns_;
};

}  // namespace fathom::view
