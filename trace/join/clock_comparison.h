// SPDX-License-Identifier: BSD-3-Clause
// How the clocks of a trace's processes relate to each other, as far as its messages and collectives
// tell. For traces of tools that do not synchronise clocks.
//
// An offset is what must be added to a process's times. No message arrives before it is sent, and no
// member leaves a collective before a member has entered whose data it needed:
//
//   offset(a) + sent <= offset(b) + received
//
// Such difference constraints have a solution unless a cycle of them contradicts itself, and
// shortest paths give it (Cormen et al., Introduction to Algorithms, section 24.4). Relative to the
// first process, the largest and the smallest offsets that are possible are both solutions. So is
// their mean, which is taken; half their difference is the uncertainty. Where some processes are
// bounded from one side only, all move no further than they must. If clocks drift so much that no
// offsets do, every constraint is relaxed by the least time that lets some do.
//
// Cost: three passes over the trace, and O(processes x pairs that communicate) at worst. In an
// operation of n members from all to all, n^2 pairs count; after 2^28 of those the rest are left
// out.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/reader.h"

namespace fathom::trace {

struct ClockOffset {
  std::int64_t offset_ns = 0;
  std::uint64_t uncertainty_ns = 0;
  bool bounded = false;  // from both sides
};

struct ClockComparison {
  std::uint64_t contradictions = 0;  // messages and members of collectives that were too early
  std::uint64_t worst_ns = 0;        // by how much
  std::uint64_t left_ns = 0;         // by how much with the offsets: clocks drift
  std::vector<ClockOffset> offsets;  // by process; the least is 0
};

ClockComparison compare_clocks(const Trace& trace);

}  // namespace fathom::trace
