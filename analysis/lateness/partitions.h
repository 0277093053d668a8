// SPDX-License-Identifier: BSD-3-Clause
// Finds the partitions of a job's communication (logical_structure.h) and their leaps.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/lateness/comm_events.h"

namespace fathom::analysis {

// Numbered so that each partition has a larger number than those it depends on.
struct Partitioning {
  ScratchVector<std::uint32_t> of;    // by event
  ScratchVector<std::uint32_t> leap;  // by partition
  std::size_t size() const { return leap.size(); }
};

// Events connected by messages and collectives, then merged where sets come both before and after
// each other (R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1, 1972;
// without recursion).
Partitioning partitions_of(const CommEvents& all);

// Merges partitions and computes leaps again. `joined`: by partition, the one it merges with, or
// itself. Merged partitions must not enclose a third.
Partitioning rejoined(const CommEvents& all, const Partitioning& before,
                      const ScratchVector<std::uint32_t>& joined);

// Partitions that directly follow each other on a process: (earlier, later), each once, sorted by
// earlier.
struct Follows {
  std::uint32_t earlier = 0, later = 0;
  std::uint64_t gap_ns = 0;  // the shortest between them on any process
};
std::vector<Follows> follows_of(const CommEvents& all, const Partitioning& partitioning);

// Completes leaps in which not all processes take part, as far as possible (logical_structure.h).
Partitioning with_complete_leaps(const CommEvents& all, Partitioning partitioning, bool force);

}  // namespace fathom::analysis
