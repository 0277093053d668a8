// SPDX-License-Identifier: BSD-3-Clause
// Which message that was received is which that was sent, for a whole trace.
//
// Found in a pass over the trace before the one that uses it: where receives complete in another
// order than they were posted in, a message's other end is only known later (channels.h). The
// alternative, to guess from lengths as the messages go by, paired some of them wrongly.
//
// Memory: 8 bytes a message, in temporary files where that is much (base/scratch.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/scratch.h"
#include "trace/join/call_tracker.h"
#include "trace/reader.h"

namespace fathom::trace {

// A message of a process: the number-th that it sent or received, hidden ones too, from 1.
struct MessageName {
  std::uint32_t process = 0;
  MessageNumber number = 0;

  std::uint64_t packed() const { return std::uint64_t{process} << 32 | number; }
  static MessageName unpacked(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed >> 32), static_cast<MessageNumber>(packed)};
  }
};

class Partners {
 public:
  // Reads all events of the trace.
  explicit Partners(const Trace& trace);

  // The other end of a message; nothing if the trace does not hold it.
  std::optional<MessageName> of(MessageName message) const {
    const auto& all = by_process_[message.process];
    if (message.number >= all.size() || all[message.number] == 0) return std::nullopt;
    return MessageName::unpacked(all[message.number]);
  }

  std::uint64_t unmatched_sends() const { return unmatched_.sends; }
  std::uint64_t unmatched_receives() const { return unmatched_.receives; }

 private:
  void note(MessageName end, MessageName other);

  std::vector<base::ScratchVector<std::uint64_t>> by_process_;  // by number: packed; 0: none
  Channels::Unmatched unmatched_;
};

}  // namespace fathom::trace
