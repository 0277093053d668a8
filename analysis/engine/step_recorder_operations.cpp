// SPDX-License-Identifier: BSD-3-Clause
// The operations that one call does not begin and end alone: messages that probes have found and those of
// neighbourhood collectives, why their steps are not complete where they arrive; and collectives with
// their places in the sequences of communicators, windows, files and persistent requests.
#include <algorithm>

#include "analysis/engine/step_recorder.h"

namespace fathom::analysis {

using trace::Event;

namespace {

std::uint64_t neighbors_key(std::int32_t communicator, std::int32_t tag) {
  return std::uint64_t{static_cast<std::uint32_t>(communicator)} << 32 |
         static_cast<std::uint32_t>(tag);
}

}  // namespace

// The call has found a message. Which one shows when it is received.
void StepRecorder::probed(const OpenCall& open, const Event& leave) {
  const mpi::Meaning& facts = facts_.functions[open.function];
  Probe probe{open.communicator,   open.peer,   open.tag, leave.time_ns, 0,
              facts.takes_message, leave.object};
  const Channels::Key key{probe.communicator, probe.peer, probe.tag};
  bool found_before = false;
  for (Probe& earlier : probes_) {
    const Channels::Key same{earlier.communicator, earlier.peer, earlier.tag};
    if (earlier.takes || earlier.handle != 0) continue;
    found_before = found_before || same == key;
    if (same.covers(key)) earlier.handle = probe.handle;  // it had found what this one takes
  }
  if (found_before) return;
  Step& step = steps_.append(process_, probe.step);
  step.kind = StepKind::kProbe;
  step.time_ns = leave.time_ns;
  step.call = step.posted = open.data.step;
  step.communicator = open.communicator;
  step.number = static_cast<std::uint32_t>(open.tag);
  step.thread = static_cast<std::uint16_t>(leave.thread);
  if (probes_.size() == kMostProbes) probes_.erase(probes_.begin());
  probes_.push_back(probe);
}

// MPI_Request_get_status has found this step to be complete.
void StepRecorder::saw_part(std::uint32_t part, const OpenCall& open, const Event& event) {
  if (part == kNobody || steps_.at(process_, part).has(kProbed)) return;
  Step& found = steps_.at(process_, part);
  found.flags |= kProbed;
  const std::int32_t communicator = found.communicator;
  std::uint32_t number = 0;
  Step& step = steps_.append(process_, number);
  step.kind = StepKind::kProbe;
  step.time_ns = event.time_ns;
  step.call = step.posted = open.data.step;
  step.partner_step = part;
  step.communicator = communicator;
  step.thread = static_cast<std::uint16_t>(event.thread);
}

// MPI_Request_get_status has found that an operation is complete, which another call completes later.
// To a receive it is what a probe is to the one that takes its message. Without PERUSE the message is
// recorded only then.
void StepRecorder::saw_complete(Request* request, const OpenCall& open, const Event& event) {
  if (request == nullptr || !request->active) return;
  if (request->group != trace::Group::kReceive) {
    saw_part(request->message, open, event);
    // MPI_Parrived succeeds once the last of those that it needs is there: with that one, or before it.
    for (const std::uint32_t part : request->data.partitions) saw_part(part, open, event);
    const Neighbors* const neighbors =
        request->data.neighbor_tag == 0
            ? nullptr
            : neighbors_.find(neighbors_key(request->communicator, request->data.neighbor_tag));
    if (neighbors == nullptr) return;
    for (const std::uint32_t message : neighbors->messages) saw_part(message, open, event);
    return;
  }
  std::vector<std::uint32_t>& given = request->data.given;
  const auto is_probe = [this](std::uint32_t step) {
    return steps_.at(process_, step).kind == StepKind::kProbe;
  };
  if (request->message != kNobody) {
    Step& receive = steps_.at(process_, request->message);
    if (receive.has(kProbed)) return;
    receive.flags |= kProbed;
  } else if (std::any_of(given.begin(), given.end(), is_probe)) {
    return;
  }
  std::uint32_t number = 0;
  Step& step = steps_.append(process_, number);
  step.kind = StepKind::kProbe;
  step.time_ns = event.time_ns;
  step.call = step.posted = open.data.step;
  step.partner_step = request->message;
  step.communicator = request->communicator;
  step.number = static_cast<std::uint32_t>(request->tag);
  step.thread = static_cast<std::uint16_t>(event.thread);
  if (request->message == kNobody) given.push_back(number);
}

// The first probe that matches has found this message, whose receive was posted after it. If a probe has
// taken it, the handle says which (0: none has, or it is not known), and it was found by no later one.
void StepRecorder::found_by_probe(const Event& message, std::uint64_t posted_ns,
                                  std::uint64_t handle, std::uint32_t receive) {
  const Channels::Key key{message.communicator, message.peer, message.tag};
  bool found = false, taken = false;
  std::erase_if(probes_, [&](const Probe& probe) {
    const Channels::Key probed{probe.communicator, probe.peer, probe.tag};
    if (probe.left_ns > posted_ns || !probed.covers(key)) return false;
    if (probe.handle != 0 ? probe.handle != handle : taken || (found && probe.takes)) return false;
    taken = taken || probe.handle != 0;
    if (!found) {
      steps_.at(process_, probe.step).partner_step = receive;
      steps_.at(process_, receive).flags |= kProbed;
    }
    found = true;
    return true;
  });
}

// The operation has begun in this call, and all of its messages at this process have this tag, which no other
// operation on the communicator has.
void StepRecorder::begin_neighbors(std::int32_t communicator, std::int32_t tag,
                                   std::uint32_t call) {
  Neighbors& made = neighbors_[neighbors_key(communicator, tag)];
  forget(made);
  made.call = call;
  made.messages.clear();
}

// The operation that the message belongs to. In a trace of an earlier Fathom, which does not name its tag, the
// first message shows it: it is in the call that begins the operation, or is the first that an operation
// which sends nothing receives. Null if the operation is not known.
StepRecorder::Neighbors* StepRecorder::neighbors_of(const Event& message) {
  const std::uint64_t key = neighbors_key(message.communicator, message.tag);
  if (Neighbors* const known = neighbors_.find(key)) return known;
  OpenCall* const open = innermost(message.thread);
  std::uint32_t begun_in = kNobody;
  if (open != nullptr && begins_among_neighbors(*open, message)) {
    begun_in = open->data.step;
  } else if (Request* const request = only_receiving(message.communicator)) {
    request->data.neighbor_tag = message.tag;
    begun_in = request->data.posted_in;
  } else {
    return nullptr;
  }
  Neighbors& made = neighbors_[key];
  made.call = begun_in;
  return &made;
}

// The operation on this communicator whose tag no message has shown yet, if there is one alone. Its messages
// are received in any call.
StepRecorder::Request* StepRecorder::only_receiving(std::int32_t communicator) {
  Request* found = nullptr;
  std::size_t count = 0;
  for_each_request([&](Request& request) {
    if (request.communicator != communicator || !request.active || request.data.neighbor_tag != 0 ||
        (request.persistent && request.data.collective.name == 0) ||
        request.group != trace::Group::kCollective || request.data.posted_in == kNobody)
      return;
    const std::uint32_t function = request.persistent
                                       ? request.data.collective.function
                                       : steps_.at(process_, request.data.posted_in).number;
    if (!mpi::is_neighborhood(facts_.functions[function].collective)) return;
    found = &request;
    ++count;
  });
  return count == 1 ? found : nullptr;
}

// Whether the call begins such an operation, whose first message this is. Those that MPI_Startall is
// given send in that order.
bool StepRecorder::begins_among_neighbors(OpenCall& open, const Event& message) {
  std::vector<std::uint64_t>& starting = open.data.starting;
  for (auto number = starting.begin(); number != starting.end(); ++number) {
    Request* const request = followed(*number);
    if (request == nullptr || request->communicator != message.communicator) continue;
    request->data.neighbor_tag = message.tag;
    starting.erase(number);
    return true;
  }
  const mpi::Meaning& means = facts_.functions[open.function];
  if (open.data.neighbor_tag != 0 || open.communicator != message.communicator ||
      !mpi::is_neighborhood(means.collective) || !means.nonblocking())
    return false;
  open.data.neighbor_tag = message.tag;
  return true;
}

// Null if the operation's beginning is not known.
StepRecorder::Neighbors* StepRecorder::add_to_neighbors(const Event& event, Step& step,
                                                        std::uint32_t number) {
  Neighbors* const neighbors = neighbors_of(event);
  if (neighbors == nullptr) return nullptr;
  step.flags |= kByRequest;
  neighbors->messages.push_back(number);
  return neighbors;
}

// No call will complete the operation: its messages count where they arrive.
void StepRecorder::forget(const Neighbors& neighbors) {
  for (const std::uint32_t message : neighbors.messages)
    steps_.at(process_, message).flags &= static_cast<std::uint8_t>(~kByRequest);
}

void StepRecorder::forget_neighbors() {
  neighbors_.for_each([this](std::uint64_t, const Neighbors& one) { forget(one); });
  neighbors_.clear();
}

// The request of such an operation is complete, and with it its messages.
void StepRecorder::complete_neighbors(const Event& event, const Request& request) {
  const std::uint64_t key = neighbors_key(request.communicator, request.data.neighbor_tag);
  const Neighbors* const neighbors = neighbors_.find(key);
  if (neighbors == nullptr) return;
  complete_parts(event, request, neighbors->messages);
  neighbors_.erase(key);
}

// The request completes all of these steps.
void StepRecorder::complete_parts(const Event& event, const Request& request,
                                  const std::vector<std::uint32_t>& parts) {
  const OpenCall* const open = innermost(event.thread);
  for (const std::uint32_t part : parts) {
    std::uint32_t number = 0;
    Step& done = steps_.append(process_, number);
    done.kind = StepKind::kDone;
    done.time_ns = event.time_ns;
    done.call = open == nullptr ? kNobody : open->data.step;
    done.partner_step = part;
    done.communicator = request.communicator;
    done.thread = static_cast<std::uint16_t>(event.thread);
  }
}

// The partitioned operation that the message is a part of, if its start is in the trace. The messages of
// others are the library's.
StepRecorder::Request* StepRecorder::operation_of(const Event& message) {
  Request* const request = followed(message.object);
  return request != nullptr && request->persistent && request->active ? request : nullptr;
}

// The call returned no request of its own, so no later call completes the step.
void StepRecorder::complete_at_return(const OpenCall& open, const Event&) {
  for (const std::uint32_t step : {open.sent, open.data.collective}) {
    if (step != kNobody) steps_.at(process_, step).flags &= static_cast<std::uint8_t>(~kByRequest);
  }
  if (open.data.neighbor_tag == 0) return;
  const std::uint64_t key = neighbors_key(open.communicator, open.data.neighbor_tag);
  if (const Neighbors* const neighbors = neighbors_.find(key)) forget(*neighbors);
  neighbors_.erase(key);
}

// ---- collectives ----

// Adds the kCollective step. What only the return of the call shows is added later.
void StepRecorder::begin_collective(OpenCall& open, const Event& event) {
  const mpi::Meaning& facts = facts_.functions[event.function];
  if (facts.sequence == mpi::Sequence::kNone || incomplete_) return;
  std::int32_t communicator = event.communicator;
  std::uint32_t object = 0, number = 0;
  switch (facts.sequence) {
    case mpi::Sequence::kJob: communicator = facts_.job(); [[fallthrough]];
    case mpi::Sequence::kCommunicator:
      if (communicator < 0) return;
      number = sequences_[static_cast<std::size_t>(communicator)]++;
      break;
    case mpi::Sequence::kWindow:
    case mpi::Sequence::kFile: {
      Object* const on = objects_.find(event.object);
      if (on == nullptr) return;
      communicator = on->communicator;
      object = on->number;
      number = on->sequence++;
      break;
    }
    case mpi::Sequence::kNewCommunicator:
    case mpi::Sequence::kNone: object = kConstructor; break;
  }
  Step& part = steps_.append(process_, open.data.collective);
  part.kind = StepKind::kCollective;
  part.time_ns = event.time_ns;
  part.call = part.posted = open.data.step;
  part.communicator = communicator;
  part.number = number;
  part.object = object;
  part.thread = static_cast<std::uint16_t>(event.thread);
  part.flags = facts.requests == Requests::kMakesAndStarts ? kByRequest : 0;
  if (event.root == trace::kTakesNoPart) part.flags |= kBystander;
}

void StepRecorder::place_in_new_communicator(const OpenCall& open, const Event& leave) {
  Step& part = steps_.at(process_, open.data.collective);
  part.communicator = leave.new_communicator;
  if (part.communicator >= 0) part.number = made_[static_cast<std::size_t>(part.communicator)]++;
}

// Windows and files, from the call that makes one to the call that frees it.
void StepRecorder::follow_objects(const OpenCall& open, const Event& leave) {
  const mpi::Meaning& facts = facts_.functions[open.function];
  const Step& part = steps_.at(process_, open.data.collective);
  if (facts.frees_object) {
    objects_.erase(open.data.object);
  } else if (leave.object != 0 && facts.sequence == mpi::Sequence::kCommunicator) {
    const std::uint32_t number = (part.number + 1) & ~PersistentName::kMark;
    objects_.erase(leave.object);
    // After 128 pauses a number comes again. All members see that, and none follows the new one.
    bool taken = false;
    objects_.for_each([&](std::uint64_t, const Object& object) {
      taken = taken || (object.communicator == part.communicator && object.number == number);
    });
    if (!taken) objects_[leave.object] = {part.communicator, number, epoch_ << 24};
  }
}

void StepRecorder::take_part(const OpenCall& open, std::uint64_t leave_ns) {
  const Step& step = steps_.at(process_, open.data.collective);
  Participation part;
  if (step.communicator < 0) return;  // the call failed
  part.communicator = step.communicator;
  part.object = step.object;
  part.epoch = epoch_;
  part.sequence = step.number;
  part.process = process_;
  part.step = open.data.collective;
  part.function = open.function;
  part.operation = facts_.operations[open.function];
  part.root = open.data.root == trace::kIsRoot ? process_ : facts_.process_of(open.data.root);
  part.bystander = step.has(kBystander) ? 1 : 0;
  part.carries = steps_.at(process_, open.data.step).bytes > 0 ? 1 : 0;
  part.enter_ns = open.enter_ns;
  part.leave_ns = step.has(kByRequest) ? 0 : leave_ns;
  outgoing_.parts.push_back(part);
}

void StepRecorder::make_persistent(Request& request, const OpenCall& open) {
  if (!facts_.from_the_first) ++of_unknown_objects_;  // how many were made before is not known
  if (open.communicator < 0 || !facts_.from_the_first) return;
  PersistentCollective& made = request.data.collective;
  made.function = facts_.operations[open.function];
  made.name =
      PersistentName::of(made.function, persistent_[static_cast<std::size_t>(open.communicator)]++);
  made.starts = epoch_ << 24;
  made.root = open.data.root;
  made.carries = steps_.at(process_, open.data.step).bytes > 0;
}

// Like the call of a non-blocking collective, but several may start in one call.
void StepRecorder::start_collective(Request& request, OpenCall& open) {
  PersistentCollective& starts = request.data.collective;
  const mpi::Meaning& means = facts_.functions[starts.function];
  if (mpi::is_neighborhood(means.collective)) {
    request.data.neighbor_tag = request.tag;
    if (request.tag != 0) {
      begin_neighbors(request.communicator, request.tag, open.data.step);
    } else {
      open.data.starting.push_back(request.number);
    }
  }
  std::uint32_t number = 0;
  Step& step = steps_.append(process_, number);
  step.kind = StepKind::kCollective;
  step.time_ns = open.enter_ns;
  step.call = step.posted = open.data.step;
  step.communicator = request.communicator;
  step.number = starts.starts;
  step.object = starts.name;
  step.thread = static_cast<std::uint16_t>(open.thread);
  step.flags = kByRequest;
  if (starts.root == trace::kTakesNoPart) step.flags |= kBystander;
  request.message = number;

  Participation part;
  part.communicator = step.communicator;
  part.object = step.object;
  part.epoch = epoch_;
  part.sequence = starts.starts++;
  part.process = process_;
  part.step = number;
  part.function = part.operation = starts.function;
  const bool rooted = means.flow == mpi::Flow::kFromRoot || means.flow == mpi::Flow::kToRoot;
  if (rooted) part.root = starts.root == trace::kIsRoot ? process_ : facts_.process_of(starts.root);
  part.bystander = step.has(kBystander) ? 1 : 0;
  part.carries = starts.carries ? 1 : 0;
  part.enter_ns = open.enter_ns;
  outgoing_.parts.push_back(part);
}

void StepRecorder::close_communicators() {
  for (const std::int32_t communicator : facts_.communicators[process_]) {
    const auto number = static_cast<std::size_t>(communicator);
    outgoing_.closings.push_back(
        {communicator, 0, epoch_, sequences_[number], persistent_[number]});
  }
  objects_.for_each([this](std::uint64_t, const Object& object) {
    outgoing_.closings.push_back({object.communicator, object.number, epoch_, object.sequence, 0});
  });
  for_each_request([this](const Request& request) {
    const PersistentCollective& made = request.data.collective;
    if (made.name != 0)
      outgoing_.closings.push_back({request.communicator, made.name, epoch_, made.starts, 0});
  });
}

}  // namespace fathom::analysis
