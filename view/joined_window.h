// SPDX-License-Identifier: BSD-3-Clause
// The calls and messages of a window of time, from the steps of a joined trace: costs what the window holds.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/call_wait.h"
#include "analysis/engine/joined_job.h"

namespace fathom::view {

struct WindowCall {
  const analysis::Step* step = nullptr;
  std::uint32_t process = 0, depth = 0;
  analysis::Wait wait;
};

// Adds the calls of a process that overlap [from_ns, to_ns) to `calls`, in the order in which they were entered,
// at most `most` of them; returns how many there are beyond. In a process of several threads, a call is missed
// that is open where the window begins and whose thread has done nothing within kLookBack steps before; and of
// one that goes on for more than kLookAhead steps after the window, the wait may not be known.
inline constexpr std::uint32_t kLookBack = 1 << 14, kLeastLookBack = 64, kLookAhead = 1 << 18;
std::uint64_t add_calls(const analysis::JoinedJob& job, std::uint32_t process,
                        std::uint64_t from_ns, std::uint64_t to_ns, std::size_t most,
                        std::vector<WindowCall>& calls);

// The waits of a process in a window, each cut to it, as the analysis wait-states counts them.
struct WindowWait {
  const analysis::Step* call = nullptr;
  std::uint64_t ns = 0;
};
void add_waits(const analysis::JoinedJob& job, std::uint32_t process, std::uint64_t from_ns,
               std::uint64_t to_ns, std::vector<WindowWait>& waits);

// A message of the program, joined at both ends.
struct WindowMessage {
  const analysis::Step *sent = nullptr, *received = nullptr;
  std::uint32_t source = 0, destination = 0;  // processes
  std::uint64_t wait_ns = 0;                  // that it ended, at its receiver or its sender
};

struct WindowMessages {
  std::vector<WindowMessage> costliest;  // by wait, then by bytes
  std::uint64_t all = 0;
  bool complete = true;  // false: the window holds more steps than were looked at
};

// Messages that were sent or received in the window, with one of the chosen processes (by position) at an end.
WindowMessages messages_in(const analysis::JoinedJob& job, const std::vector<bool>& chosen,
                           std::uint64_t from_ns, std::uint64_t to_ns, std::size_t most);

}  // namespace fathom::view
