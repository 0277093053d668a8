// SPDX-License-Identifier: BSD-3-Clause
// The critical path of a run without a trace: the chain of work and calls that its time consists of.
//
// As in the analysis of traces (analysis/path/critical_path.h), it is followed backward from the
// process that reached the end last. At a call that waited it continues at the process waited for,
// at the decisive moment, so there are no waits on it. Each process knows its own waits. If what all
// remember is little, process 0 gets it and follows the path alone. Else a token, one small message
// for each change of process, carries the walk from one to the next.
//
// What a process did between the calls that it remembers is known as sums; a part of such a stretch
// gets its share of them, of calls and bytes too. Calls that were left out because they were short, and those of which nobody
// knows any more when they were decided, may have waited. The time of those on the path is its error:
// so much of it may be waiting. Where two chains are about equally long, as in balanced programs,
// even a small error can mean the other one.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "profile/rows.h"
#include "profiler/openmpi/gather.h"
#include "profiler/waits/time_line.h"

namespace fathom::profiler {

// The sums over the parts of a window.
struct PathFacts {
  std::uint32_t window = 0;
  std::int64_t elapsed_ns = 0;
  std::uint64_t jumps = 0;
  std::int64_t error_ns = 0;
};

struct FoundPath {
  std::vector<profile::PathRow> rows;  // this process's part
  bool comes_here = false;             // the path passes this process
  // At process 0: of all windows, and how many processes it passes.
  std::vector<PathFacts> facts;
  std::uint32_t processes = 0;
};

// All processes of the world call it together, with the same windows in the same order. `last`: of all
// processes, when the first window ends, and the rank whose does last. Does not throw: without memory
// a process passes the token on and its part is missing.
FoundPath find_path(Gather& gather, std::uint32_t rank, TimeLine& own,
                    const std::vector<PathWindow>& windows, Gather::Place last) noexcept;

// What another process needs to follow the path through this one. Empty without memory.
std::vector<char> packed_for_path(const TimeLine& own,
                                  const std::vector<PathWindow>& windows) noexcept;

// The same path, of what packed_for_path() returned at all processes.
class PathOfAll {
 public:
  // Those of each rank: of one that does not add them the path knows nothing, and ends there. Throws
  // std::bad_alloc.
  void add(std::uint32_t rank, const char* packed, std::size_t size);
  std::vector<PathFacts> find();

  // After find(): visit(rank, rows) for each process that the path passes.
  template <typename Visit>
  void for_each_part(Visit visit) const {
    for (const auto& [rank, process] : processes_)
      if (std::vector<profile::PathRow> rows = process.line.rows(); !rows.empty())
        visit(rank, rows);
  }

 private:
  struct Process {
    std::vector<PathWindow> windows;
    TimeLine line;
  };
  PathFacts find_in_window(std::size_t number);

  std::map<std::uint32_t, Process> processes_;
};

}  // namespace fathom::profiler
