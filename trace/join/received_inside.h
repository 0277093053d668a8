// SPDX-License-Identifier: BSD-3-Clause
// What a send inside a call has to wait for: of the messages that one thread received since the call
// began, those that the library had waited for when it sent.
//
// In collectives whose messages are exchanges (all-to-all, allgather, allreduce, reduce-scatter,
// barrier), having received a message before a send does not mean that the send needed it. If the
// message was already there when its receive was posted, the send depends on it only if the library
// waited in between, or posted another receive after a send, as it does from one step to the next.
// Otherwise a rank that came late, found its messages there and then sent would seem to send
// because it received. This needs the steps of transfers (PERUSE); without them, and in other calls,
// a send depends on every message received before it.
//
// One object for each thread. Labels are the user's names for received messages. Memory: a label
// for each message received since the last send that waited.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/definitions.h"
#include "trace/event.h"

namespace fathom::trace {

// What the class of a library's message says about the call that it is part of.
class CollectiveClasses {
 public:
  explicit CollectiveClasses(const Definitions& definitions);
  bool is_exchange(const Event& message) const { return kind_of(message) == Kind::kExchange; }
  // A message of a non-blocking collective belongs to no call: it may be sent in one call and
  // received in any later one.
  bool is_nonblocking(const Event& message) const { return kind_of(message) == Kind::kNonblocking; }

 private:
  enum class Kind : std::uint8_t { kOther, kExchange, kNonblocking };
  Kind kind_of(const Event& message) const {
    return message.code < kinds_.size() ? kinds_[message.code] : Kind::kOther;
  }

  std::vector<Kind> kinds_;  // by class of message
};

class ReceivedInside {
 public:
  using Label = std::uint64_t;

  // Any event that is no call and no message: steps of receives are looked at.
  void step(const Event& event);
  void received(Label label, bool in_exchange);
  // The program's own blocking send or receive, or a send of the library.
  void passed(bool sends) { has_sent_ = sends; }

  // What the library's next send waits for, to be taken.
  std::vector<Label>& before_send() { return arrived_; }
  // Appends what is left to `all`, which whatever follows the call waits for.
  void end_call(std::vector<Label>& all);

 private:
  std::vector<Label> arrived_;  // received since the last send
  std::vector<Label> found_;    // messages that were there when their receives were posted
  bool found_now_ = false;      // the receive posted last found its message there
  bool has_sent_ = false;       // since a receive was posted
};

}  // namespace fathom::trace
