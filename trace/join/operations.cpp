// SPDX-License-Identifier: BSD-3-Clause
#include "trace/join/operations.h"

#include <utility>

namespace fathom::trace {
OperationVisitor::OperationVisitor(OperationSink& sink, const Definitions& definitions,
                                   std::function<bool(const Message&)> wants)
    : sink_(sink), wants_(std::move(wants)), classes_(definitions) {}

void OperationVisitor::other(const Place& place, const Event& event) {
  if (event.kind == EventKind::kTransfer) at(place).inside.step(event);
}

void OperationVisitor::enter(const Place& place, const Call& call) {
  // Time inside MPI is for the simulator to compute, so a call inside another changes nothing.
  if (call.depth > 0) return;
  Thread& thread = at(place);
  if (thread.began && call.enter.time_ns > thread.left_ns) {
    const Label computed = sink_.compute(place, call.enter.time_ns - thread.left_ns);
    require(computed, thread.point);
    for (const Label send : thread.begun) sink_.require_started(computed, send);
    thread.begun.clear();
    thread.point = computed;
  }
  thread.began = true;
  thread.entered = thread.point;
}

void OperationVisitor::leave(const Place& place, const Call& call) {
  if (call.depth > 0) return;
  Thread& thread = at(place);
  thread.left_ns = call.leave.time_ns;
  thread.inside.end_call(thread.joined);
  if (thread.joined.size() == 1 && thread.point == thread.entered && !thread.completed) {
    thread.point = thread.joined.front();  // the operation already requires the old point
    thread.joined.clear();
  } else {
    join(place, thread, thread.joined);
  }
  thread.completed = false;
}

void OperationVisitor::message(const Place& place, const Message& message) {
  if (!wants_(message) || message.event.peer < 0) return;
  Thread& thread = at(place);
  const bool sends = message.event.kind == EventKind::kMessageSent;
  if (sends && message.hidden) join(place, thread, thread.inside.before_send());
  const Label label = sink_.transfer(place, message.event);
  if (message.nonblocking && sends) {
    require(label, thread.point);
    thread.begun.push_back(label);
    sends_.emplace(message.number, label);
  } else if (message.nonblocking) {
    Pending& pending = requests_[message.event.request];
    require(label, pending.posted ? pending.posted : thread.entered);
    pending.operation = label;
  } else {
    require(label, sends ? thread.point : thread.entered);
    if (message.hidden && !sends) {
      thread.inside.received(label, classes_.is_exchange(message.event));
    } else {
      const bool awaited = !(message.hidden && classes_.is_nonblocking(message.event));
      (awaited ? thread.joined : thread.begun).push_back(label);
      thread.inside.passed(sends);
    }
  }
}

void OperationVisitor::request_started(const Place& place, const Request& request) {
  if (request.kind == trace::RequestKind::kReceive && !request.has_message)
    requests_[request.number].posted = at(place).point;
}

void OperationVisitor::request_completed(const Place& place, const Request& request, const Event&) {
  Thread& thread = at(place);
  const auto sent = sends_.find(request.sent);
  const auto received = requests_.find(request.number);
  Label done = kNone;
  if (sent != sends_.end()) {
    done = sent->second;
    sends_.erase(sent);
  } else if (received != requests_.end()) {
    done = received->second.operation;
  }
  if (received != requests_.end()) requests_.erase(received);
  if (done == kNone) return;
  thread.joined.push_back(done);
  thread.completed = true;
}

OperationVisitor::Thread& OperationVisitor::at(const Place& place) {
  if (threads_.size() <= place.thread) threads_.resize(place.thread + 1);
  return threads_[place.thread];
}

void OperationVisitor::require(Label label, Label earlier) {
  if (earlier != kNone) sink_.require(label, earlier);
}

// Moves the thread's point to a new one, which also requires `labels`.
void OperationVisitor::join(const Place& place, Thread& thread, std::vector<Label>& labels) {
  if (labels.empty()) return;
  const Label joint = sink_.compute(place, 0);
  require(joint, thread.point);
  for (const Label label : labels) require(joint, label);
  thread.point = joint;
  labels.clear();
}

}  // namespace fathom::trace
