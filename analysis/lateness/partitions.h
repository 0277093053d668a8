// SPDX-License-Identifier: BSD-3-Clause
// The partitions of a job's communication (logical_structure.h): how they are found, and the leaps
// they stand in.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/lateness/comm_events.h"

namespace fathom::analysis {

// Numbered so that whatever depends on another has the larger number.
struct Partitioning {
  ScratchVector<std::uint32_t> of;    // by event
  ScratchVector<std::uint32_t> leap;  // by partition
  std::size_t size() const { return leap.size(); }
};

// Events that messages and collectives connect, and then what is both before and behind one another
// (R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1, 1972; without
// recursion).
Partitioning partitions_of(const CommEvents& all);

// Renumbers after `joined` (by partition: another that it goes together with, or itself), and finds
// leaps again. What goes together must not enclose a third.
Partitioning rejoined(const CommEvents& all, const Partitioning& before,
                      const ScratchVector<std::uint32_t>& joined);

// Partitions that follow directly on a process: (earlier, later), each once, sorted by earlier.
struct Follows {
  std::uint32_t earlier = 0, later = 0;
  std::uint64_t gap_ns = 0;  // the least between them on any process
};
std::vector<Follows> follows_of(const CommEvents& all, const Partitioning& partitioning);

// Leaps that not all processes take part in are completed as far as that can be
// (logical_structure.h).
Partitioning with_complete_leaps(const CommEvents& all, Partitioning partitioning, bool force);

}  // namespace fathom::analysis
