// SPDX-License-Identifier: BSD-3-Clause
// What one process did as operations that depend on each other: what a simulator of messages
// replays.
//
// Computation is what passed between two calls. Collectives are the messages that the library
// really sent. An operation requires what its thread did before; a send inside a collective also
// requires what that collective received before; what a wait or test completes, what follows it
// requires. Time inside MPI is left out: that is what a simulator finds.
//
// In collectives whose messages are exchanges (all-to-all, allgather, allreduce, reduce-scatter,
// barrier), "received before" is not enough: a message that was there already when its receive was
// posted counts for a send only if the library waited in between, or posted another receive after a
// send, as it does from one step to the next. Otherwise a rank that came late, found its messages
// there and then sent, would seem to send because it received. That needs the steps of transfers
// (PERUSE); without them all count.
//
// A visitor of walk_process(), one for each process. Memory: requests and messages alive.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "trace/join/walk.h"

namespace fathom::trace {

// Operations are numbered by the sink, from 1 on.
class OperationSink {
 public:
  using Label = std::uint64_t;
  static constexpr Label kNone = 0;

  virtual ~OperationSink() = default;
  virtual Label compute(const Place& place, std::uint64_t ns) = 0;
  virtual Label transfer(const Place& place, const Event& message) = 0;  // sent or received
  virtual void require(Label label, Label earlier) = 0;  // earlier ends before label starts
};

class OperationVisitor : public Visitor {
 public:
  // Messages that `wants` denies are left out.
  OperationVisitor(OperationSink& sink, const Definitions& definitions,
                   std::function<bool(const Message&)> wants);

  void enter(const Place& place, const Call& call) override;
  void leave(const Place& place, const Call& call) override;
  void message(const Place& place, const Message& message) override;
  void request_started(const Place& place, const Request& request) override;
  void request_completed(const Place& place, const Request& request, const Event& event) override;
  void other(const Place& place, const Event& event) override;

 private:
  using Label = OperationSink::Label;
  static constexpr Label kNone = OperationSink::kNone;

  struct Thread {
    bool began = false;
    bool completed = false;  // `joined` holds operations of earlier calls
    std::uint64_t left_ns = 0;
    Label point = kNone;         // what its next operation requires: everything before
    Label entered = kNone;       // the point when the current call began
    std::vector<Label> joined;   // what follows the current call requires these too
    std::vector<Label> arrived;  // received inside a collective since its last send
    std::vector<Label> found;    // those that were there when their receives were posted
    bool found_now = false;      // the receive posted last found its message there
    bool has_sent = false;       // since a receive was posted
  };
  struct Pending {
    Label posted = kNone, operation = kNone;
  };

  Thread& at(const Place& place);
  void require(Label label, Label earlier);
  bool is_exchange(const Event& message) const;
  void received_inside(Thread& thread, const Event& message, Label label);
  void join(const Place& place, Thread& thread, std::vector<Label>& labels);

  OperationSink& sink_;
  std::function<bool(const Message&)> wants_;
  std::vector<char> exchanges_;  // by class of message
  std::vector<Thread> threads_;
  std::unordered_map<std::uint64_t, Pending> requests_;  // receives
  std::unordered_map<std::uint64_t, Label>
      sends_;  // by number of the message, until its request completes
};

}  // namespace fathom::trace
