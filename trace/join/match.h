// SPDX-License-Identifier: BSD-3-Clause
// Joins each message that was sent with its receive, as both stream by in order of time.
//
// The rule (MPI 3.1, section 3.5): messages of one (communicator, source, destination, tag) are
// received in the order in which they were sent, by receives in the order in which they were
// posted. Receives are told of when they complete, which may be in another order; so a receive says
// how many receives posted before it wait for the same messages, and takes the send behind as many.
// If that one has another length, the earliest of the same length is taken, else the earliest of
// any (a receive may cut a message short). A receive seen before its send (clocks of two hosts)
// waits like a send.
//
// Cost: O(1) a message in order, O(outstanding of the key) out of order. Memory: what is
// outstanding. Where records were lost, or recording paused, forget() keeps what is left behind
// from shifting all that follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace fathom::trace {

struct MessageKey {
  std::int32_t communicator = 0, source = 0, destination = 0, tag = 0;  // world ranks
  bool operator==(const MessageKey&) const = default;
};

// One end of a message.
struct MessageEnd {
  std::uint64_t id = 0;  // the same for both ends, from 1
  std::uint64_t time_ns = 0, bytes = 0;
  std::uint64_t posted_ns = 0;  // when the call that sends or receives it began
  std::size_t process = 0;
  std::uint32_t thread = 0;
  std::uint32_t message_class = 0;
};

class MessageMatcher {
 public:
  // Each gives `end` its id and returns the other end if that was there already.
  std::optional<MessageEnd> send(const MessageKey& key, MessageEnd& end);
  // `posted_before`: receives that wait for the same key, were posted earlier and did not complete
  // yet.
  std::optional<MessageEnd> receive(const MessageKey& key, MessageEnd& end,
                                    std::size_t posted_before);

  // What waits for or comes from this rank will never find its other end.
  void forget(std::int32_t rank);

  std::uint64_t unmatched_sends() const;  // waiting now, or forgotten
  std::uint64_t unmatched_receives() const;

 private:
  // First in, mostly first out; taking the first costs no move of the others.
  class Queue {
   public:
    std::size_t size() const { return items_.size() - first_; }
    const MessageEnd& at(std::size_t index) const { return items_[first_ + index]; }
    void push(const MessageEnd& end) { items_.push_back(end); }
    MessageEnd take(std::size_t index);
    std::size_t clear();

   private:
    std::vector<MessageEnd> items_;
    std::size_t first_ = 0;
  };
  struct Waiting {
    Queue sends, receives;
  };
  struct KeyHash {
    std::size_t operator()(const MessageKey& key) const;
  };

  static std::optional<MessageEnd> take_matching(Queue& queue, std::uint64_t bytes,
                                                 std::size_t position);
  Waiting& waiting(const MessageKey& key);

  std::unordered_map<MessageKey, Waiting, KeyHash> waiting_;
  std::size_t sweep_at_ = 1 << 16;  // keys; then those with nothing waiting are dropped
  std::uint64_t last_id_ = 0;
  std::uint64_t forgotten_sends_ = 0, forgotten_receives_ = 0;
};

}  // namespace fathom::trace
