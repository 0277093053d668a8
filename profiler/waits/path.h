// SPDX-License-Identifier: BSD-3-Clause
// The critical path of a run without a trace: the chain of work and calls that its time consists of.
//
// As in the analysis of traces (analysis/path/critical_path.h), it is followed backward from the
// process that reached the end last. At a call that waited it continues at the process waited for,
// at the decisive moment, so there are no waits on it. Each process knows its own waits; a token,
// one small message for each change of process, carries the walk from one to the next.
//
// What a process did between the calls that it remembers is known as sums; a part of such a stretch
// gets its share of them, of calls and bytes too. Calls that were left out because they were short, and those of which nobody
// knows any more when they were decided, may have waited. The time of those on the path is its error:
// so much of it may be waiting. Where two chains are about equally long, as in balanced programs,
// even a small error can mean the other one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/rows.h"
#include "profiler/openmpi/gather.h"
#include "profiler/waits/resolve.h"

namespace fathom::profiler {

// A part of the run, in the time that all processes share. Each process has its own limits. A window
// that was opened several times has a part for each, with the same number.
struct PathWindow {
  std::uint32_t number = 0;  // text "path-window"; 0: the whole run
  std::int64_t start_ns = 0, stop_ns = 0;
};

// The sums over the parts of a window.
struct PathFacts {
  std::uint32_t window = 0;
  std::int64_t elapsed_ns = 0;
  std::uint64_t jumps = 0;
  std::int64_t error_ns = 0;
};

// In CodePlaceRow::function: the program's work after its last call.
inline constexpr std::uint32_t kAtTheEnd = ~0u;

struct FoundPath {
  std::vector<profile::PathRow> rows;  // this process's part
  bool comes_here = false;             // the path passes this process
  // At process 0: of all windows, and how many processes it passes.
  std::vector<PathFacts> facts;
  std::uint32_t processes = 0;
};

// All processes of the world call it together, after find_waits(), with the same windows in the same
// order. `last`: of all processes, when the first window ends, and the rank whose does last. Does not
// throw: without memory a process passes the token on and its part is missing.
FoundPath find_path(Gather& gather, std::uint32_t rank, const SharedClock& clock,
                    const FoundWaits& found, const std::vector<PathWindow>& windows,
                    Gather::Place last) noexcept;

}  // namespace fathom::profiler
