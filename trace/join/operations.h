// SPDX-License-Identifier: BSD-3-Clause
// Turns what one process did into operations that depend on each other, which a simulator of
// messages can replay.
//
// Computation is the time between two calls. A collective is the messages that the library really
// sent for it. An operation depends on what its thread did before. A send inside a collective also
// depends on what that collective received before, and whatever follows a wait or test depends on
// what it completed. Time inside MPI is left out, because the simulator computes it.
//
// In collectives whose messages are exchanges (all-to-all, allgather, allreduce, reduce-scatter,
// barrier), having received a message before a send does not mean that the send needed it. If the
// message was already there when its receive was posted, the send depends on it only if the library
// waited in between, or posted another receive after a send, as it does from one step to the next.
// Otherwise a rank that came late, found its messages there and then sent would seem to send
// because it received. This needs the steps of transfers (PERUSE); without them, a send depends on
// every message received before it.
//
// A visitor for walk_process(), one for each process. Memory: live requests and messages in flight.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "trace/join/walk.h"

namespace fathom::trace {

// The sink numbers the operations, from 1.
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
  // Messages for which `wants` returns false are left out.
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
    bool completed = false;  // `joined` holds operations that earlier calls started
    std::uint64_t left_ns = 0;
    Label point = kNone;         // everything before; the next operation requires it
    Label entered = kNone;       // the point when the current call began
    std::vector<Label> joined;   // required by what follows the current call
    std::vector<Label> arrived;  // received inside a collective since its last send
    std::vector<Label> found;    // messages that were there when their receives were posted
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
