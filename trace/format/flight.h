// SPDX-License-Identifier: BSD-3-Clause
// The memory of a flight recorder: how a process that keeps its last records in memory and its keeper
// talk to each other.
//
// The memory has the layout of a .live file (format.h) but is no file: a memfd, which the process
// maps and its keeper (profiler/keeper/) holds too, so it outlives the process however that ends.
// FlightHeader lies between the LiveHeader and the first chunk. The keeper frees the oldest full
// chunks for reuse. On request it writes the rest as an ordinary .trace file.
//
// Each word has one writer; all are read and written as atomics.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom::trace {

inline constexpr std::size_t kFlightHeaderOffset = 64;

struct FlightHeader {
  std::uint32_t ended;  // by the process: 1, it reached the end of its trace; nothing is to be kept
  std::uint32_t asked;  // by the process: how many snapshots it has asked for itself
  std::uint32_t uses_counter;  // by the process, once: its clock is the time-stamp counter
};
static_assert(sizeof(FlightHeader) == 12);

// A request to all keepers of a run: the symbolic link RUN/.snap, whose target is the name of the
// folder in RUN that the snapshots go to. A link, because it appears together with its content.
inline constexpr char kSnapRequest[] = ".snap";

}  // namespace fathom::trace
