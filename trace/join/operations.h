// SPDX-License-Identifier: BSD-3-Clause
// Turns what one process did into operations that depend on each other, which a simulator of
// messages can replay.
//
// Computation is the time between two calls. A collective is the messages that the library really
// sent for it. An operation depends on what its thread did before; computation after a non-blocking
// send, on its start. A send inside a collective also
// depends on what that collective received before (received_inside.h), and whatever follows a wait
// or test depends on what it completed. What a non-blocking collective sends, nothing waits for: in
// which call it ends is not recorded. Time inside MPI is left out, because the simulator computes
// it.
//
// A visitor for walk_process(), one for each process. Memory: live requests and messages in flight.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "trace/join/received_inside.h"
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
  virtual void require(Label label, Label earlier) = 0;          // earlier ends before label starts
  virtual void require_started(Label label, Label earlier) = 0;  // earlier starts before label
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
    Label point = kNone;        // everything before; the next operation requires it
    Label entered = kNone;      // the point when the current call began
    std::vector<Label> begun;   // sends that nothing waited for, since it last computed
    std::vector<Label> joined;  // required by what follows the current call
    ReceivedInside inside;      // of the current call
  };
  struct Pending {
    Label posted = kNone, operation = kNone;
  };

  Thread& at(const Place& place);
  void require(Label label, Label earlier);
  void join(const Place& place, Thread& thread, std::vector<Label>& labels);

  OperationSink& sink_;
  std::function<bool(const Message&)> wants_;
  const CollectiveClasses classes_;
  std::vector<Thread> threads_;
  std::unordered_map<std::uint64_t, Pending> requests_;  // receives
  std::unordered_map<std::uint64_t, Label>
      sends_;  // by number of the message, until its request completes
};

}  // namespace fathom::trace
