// SPDX-License-Identifier: BSD-3-Clause
// Pairs every received message of a trace with the sent one.
//
// This takes a pass of its own over the trace, before the pass that uses the pairs: when receives
// complete in another order than they were posted, the other end of a message is known only later
// (channels.h). Rejected: guessing from message lengths during a single pass, which paired some
// messages wrongly.
//
// Memory: 8 bytes for each message, in temporary files if there are many (base/scratch.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/scratch.h"
#include "trace/join/call_tracker.h"
#include "trace/reader.h"

namespace fathom::trace {

// A message, named by its process and its position among all messages, hidden ones included, that
// the process sent or received; the first is number 1.
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

  // The other end of a message; nullopt if it is not in the trace.
  std::optional<MessageName> of(MessageName message) const {
    const auto& all = by_process_[message.process];
    if (message.number >= all.size() || all[message.number] == 0) return std::nullopt;
    return MessageName::unpacked(all[message.number]);
  }

  std::uint64_t unmatched_sends() const { return unmatched_.sends; }
  std::uint64_t unmatched_receives() const { return unmatched_.receives; }

 private:
  void note(MessageName end, MessageName other);

  // By process, then by message number: the packed name of the other end, 0 if there is none.
  std::vector<base::ScratchVector<std::uint64_t>> by_process_;
  Channels::Unmatched unmatched_;
};

}  // namespace fathom::trace
