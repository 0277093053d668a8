// SPDX-License-Identifier: BSD-3-Clause
// The windows of the run that the program names with fathom_path_start() and fathom_path_stop():
// when this process opened and closed them, and what its calls came to inside.
//
// Nothing is sent and, while no window is opened or closed, nothing is done: the sums are differences
// of the rows of calls (call_times.h), which are counted anyway.
//
// Memory is bounded: kMostWindows names, kMostOpenings openings of all together, kMostSums sums.
// What is beyond is left out, and notes() says so, in kMostNotes sentences. Windows may nest and overlap; of one name, only
// one can be open.
//
// Threading: on the thread that called MPI_Init; calls from others are left out, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/reserved_array.h"
#include "profile/rows.h"

namespace fathom::profiler {

class PathWindows {
 public:
  static constexpr std::size_t kMostWindows = 64, kMostOpenings = 4096, kMostSums = 1u << 14;
  static constexpr std::size_t kLongestName = 255, kMostNotes = 32;

  using Rows = base::ReservedArray<profile::CallRow>;  // those of this thread
  struct Opening {
    std::uint64_t start, stop;  // ticks
  };
  struct Sum {
    std::uint64_t calls = 0, ticks = 0, bytes = 0;
  };
  using SumKey = std::pair<std::uint32_t, std::uint32_t>;  // function, communicator
  struct Window {
    std::string name;
    std::vector<Opening> openings;
    std::map<SumKey, Sum> sums;
    enum class State { kClosed, kOpen, kOpenButLeftOut } state = State::kClosed;
  };

  // `rows`: null if the thread has made no call yet. Do nothing outside MPI_Init and MPI_Finalize.
  static void start(const char* name, const Rows* rows) noexcept;
  static void stop(const char* name, const Rows* rows) noexcept;
  // MPI_Finalize, after WaitLog::close(): windows that are still open end with it.
  static void close(const Rows* rows) noexcept;

  static const std::vector<Window>& all() { return mine().windows; }
  static std::size_t openings() { return mine().openings; }
  // Sentences about windows that are left out, and about calls that do not fit.
  static const std::set<std::string>& notes() { return mine().notes; }
  static void note(const std::string& sentence) noexcept;
  static void note_left_out_by_rank_0() noexcept;

 private:
  struct Mine {
    std::vector<Window> windows;
    std::set<std::string> notes;
    std::vector<Sum> seen;  // the rows at the last opening or closing
    std::size_t openings = 0, sums = 0;
  };
  static Mine& mine() {
    static auto* one = new Mine;  // exit handlers of the program may still close a window
    return *one;
  }
  static Window* find(const std::string& name);
  static void begin(const std::string& name, const Rows* rows);
  static void end(const std::string& name, const Rows* rows);
  static void add_calls(const Rows* rows);
};

}  // namespace fathom::profiler
