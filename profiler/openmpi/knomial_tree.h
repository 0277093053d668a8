// SPDX-License-Identifier: BSD-3-Clause
// The tree of a job's processes along which their rows reach rank 0 (gather.h), and that along which their
// clocks are measured (clock_sync.h).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace fathom::profiler {

// In a world of up to 256 processes, rank 0 hears from all others itself: where ranks wait for a processor,
// each level of the tree takes a turn of theirs. In a larger one, a process hears from up to 15 at each
// level.
inline constexpr int kFlatWorld = 256, kTreeBase = 16;
inline int gathering_base(int size) { return size <= kFlatWorld ? kFlatWorld : kTreeBase; }

// The rank above this one, or -1, and those below, ascending: a rank is below the one without its lowest
// digit, in this base, that is not 0. So those at and below a child are all ranks up to the next child.
inline std::pair<int, std::vector<int>> knomial_neighbors(int rank, int size, int base) {
  std::vector<int> children;
  for (std::int64_t place = 1; place < size; place *= base) {
    const std::int64_t digit = rank / place % base;
    if (digit != 0) return {static_cast<int>(rank - digit * place), children};
    for (int step = 1; step < base && rank + step * place < size; ++step)
      children.push_back(static_cast<int>(rank + step * place));
  }
  return {-1, children};
}

}  // namespace fathom::profiler
