// SPDX-License-Identifier: BSD-3-Clause
// Checks the trace of a flight recorder by itself: there is no profile of the same moments to compare
// it with, but most messages have both ends in it, and these must agree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/reader.h"

namespace fathom::trace {

struct WindowCheck {
  std::uint64_t records = 0, dropped = 0;  // dropped: before the first one of each process
  std::uint64_t joined = 0;                // messages with both ends here
  std::uint64_t different = 0;             // of them, those whose ends state different lengths
  std::uint64_t only_sent = 0, only_received = 0;
  std::uint64_t lost = 0;     // records, before the window or in it
  std::uint64_t inexact = 0;  // processes that lost some before the window
  std::vector<std::string> problems;

  bool good() const { return different == 0 && problems.empty(); }
};

// Whether any process of the trace recorded in flight.
bool is_window(const Definitions& definitions);

// Reads the whole trace twice.
WindowCheck check_window(const Trace& trace);

}  // namespace fathom::trace
