// SPDX-License-Identifier: BSD-3-Clause
// What a process remembers of its time, in order: its calls, and before each of them a stretch. The
// critical path (path.h) follows it backward.
//
// Packed, it can be followed at another process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "profile/rows.h"
#include "profiler/clocks/shared_clock.h"
#include "profiler/waits/resolve.h"
#include "profiler/waits/wait_log.h"

namespace fathom::profiler {

// A part of the run, in the time that all processes share. Each process has its own limits. A window
// that was opened several times has a part for each, with the same number.
struct PathWindow {
  std::uint32_t number = 0;  // text "path-window"; 0: the whole run
  std::int64_t start_ns = 0, stop_ns = 0;
};

// How far the walk along a path has come.
struct PathWalk {
  std::int64_t now_ns = 0;  // it has come back to this moment
  std::int64_t error_ns = 0;
};

class TimeLine {
 public:
  // Of this process. Without memory there is nothing to follow.
  TimeLine(const SharedClock& clock, const FoundWaits& found) noexcept;
  // Of another one. What is damaged, or was cut off, is left out. Throws std::bad_alloc.
  TimeLine(const char* packed, std::size_t size);
  TimeLine(TimeLine&&) = default;

  // Throws std::bad_alloc.
  std::vector<char> packed() const;

  // Follows the path back to a wait, or to the beginning of the window. Returns the rank waited for,
  // at which it goes on.
  std::optional<std::uint32_t> follow(PathWalk& walk, const PathWindow& window);

  // What has been followed.
  std::vector<profile::PathRow> rows() const;

 private:
  using Row = profile::CallRow;  // only its key and place are read
  struct Call {
    std::int64_t entered_ns, left_ns;
    std::int64_t decided_ns;  // what it waited for; kDidNotWait
    std::uint32_t peer_rank;  // where that happened
    bool may_wait;            // nobody knows
    const Row* row;           // null: it only ends a stretch
    const Row* leads_to;      // of this call, or the next that is one; null: the end
    std::uint64_t bytes;
    std::size_t at;  // its stretch
  };
  struct PathSum {
    std::int64_t ns = 0;
    double stretches = 0, calls = 0, bytes = 0;
  };

  void remember(const SharedClock& clock, const FoundWaits& found);
  void unpack(const char* packed, std::size_t size);
  void find_what_calls_lead_to();
  WaitLog::Stretch stretch_at(std::size_t at) const;
  WaitLog::Stretch last_stretch() const;
  void follow_stretch(PathWalk& walk, const PathWindow& window,
                      std::vector<Call>::const_iterator call);
  void add(const PathWindow& window, const Row* row, bool is_program, std::int64_t ns,
           double stretches, double calls, double bytes) noexcept;

  std::int64_t opened_ns_ = 0, closed_ns_ = 0;
  double ns_per_tick_ = 1;
  Row end_{};  // the call that the last stretch leads to
  std::vector<Call> calls_;
  // If it was packed:
  bool is_packed_ = false;
  std::vector<Row> rows_;
  std::vector<WaitLog::Sum> sums_;
  std::vector<WaitLog::Stretch> stretches_;  // before each call, and the last
  // By window, row (null: end_), and whether it is the program's time before that call.
  std::map<std::tuple<std::uint32_t, const Row*, bool>, PathSum> followed_;
};

}  // namespace fathom::profiler
