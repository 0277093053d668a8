// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/step_recorder.h"

#include <algorithm>

#include "mpi/wait_kind.h"

namespace fathom::analysis {

using trace::Event;
using trace::EventKind;

namespace {

std::uint64_t neighbors_key(std::int32_t communicator, std::int32_t tag) {
  return std::uint64_t{static_cast<std::uint32_t>(communicator)} << 32 |
         static_cast<std::uint32_t>(tag);
}

}  // namespace

StepRecorder::StepRecorder(const JobFacts& facts, std::uint32_t process, RecorderOptions options,
                           StepFile& steps, Channels& channels, Outgoing& outgoing)
    : CallTracker(facts.definitions, facts.functions, options.hidden_messages),
      facts_(facts),
      process_(process),
      rank_(static_cast<std::int32_t>(facts.definitions.processes[process].rank)),
      steps_(steps),
      channels_(channels),
      outgoing_(outgoing),
      sequences_(facts.members.size()),
      made_(facts.members.size()),
      epochs_(rank_) {
  const auto& opening = facts.definitions.processes[process].opening;
  if (!opening) return;
  for (const trace::Opening::Sequence& before : opening->sequences) {
    const std::int32_t communicator = before.communicator < 0 ? facts.job() : before.communicator;
    // Within the first epoch's share of the numbers: all members begin alike.
    sequences_[static_cast<std::size_t>(communicator)] +=
        static_cast<std::uint32_t>(before.operations & 0xffffff);
  }
}

std::uint32_t StepRecorder::site(std::uint64_t address) {
  if (address == 0) return kNobody;
  auto& cached = site_cache_[(address >> 2 ^ address >> 10) & 255];
  if (cached.address == address) return cached.number;
  if (const std::uint32_t* known = site_numbers_.find(address)) {
    cached = {address, *known};
    return *known;
  }
  const auto number = static_cast<std::uint32_t>(sites_.size());
  sites_.push_back(address);
  site_numbers_[address] = number;
  cached = {address, number};
  return number;
}

bool StepRecorder::continues_poll(const OpenCall& open, const Event& enter) const {
  if (open.depth > 0 || enter.thread >= failed_polls_.size()) return false;
  const FailedPoll& last = failed_polls_[enter.thread];
  return last.step != kNobody && facts_.functions[enter.function].polls &&
         enter.time_ns - last.left_ns <= mpi::kLongestPoll_ns;
}

// A new step, or that of the loop of tests and probes that the call continues.
Step& StepRecorder::step_of_call(OpenCall& open, const Event& event) {
  if (continues_poll(open, event)) {
    open.data.step = failed_polls_[event.thread].step;
    Step& loop = steps_.at(process_, open.data.step);
    loop.flags |= kPolled;
    return loop;
  }
  Step& call = steps_.append(process_, open.data.step);
  call.time_ns = event.time_ns;
  call.posted = open.data.step;
  call.thread = static_cast<std::uint16_t>(event.thread);
  call.partner = phases_.empty() ? kNobody : phases_.back();
  call.flags = open.depth == 0 ? 0 : kNested;
  return call;
}

void StepRecorder::entered(OpenCall& open, const Event& event) {
  Step& call = step_of_call(open, event);
  call.bytes = event.bytes;
  call.number = event.function;
  call.communicator = event.communicator;
  call.partner_step = site(event.site);
  open.data.root = event.root;
  open.data.object = event.object;
  if (event.thread < failed_polls_.size() && open.depth == 0)
    failed_polls_[event.thread].step = kNobody;
  const mpi::Epoch epoch = facts_.functions[event.function].epoch;
  if (epoch != mpi::Epoch::kNone) epochs_.entered(epoch, event.object);
  begin_collective(open, event);
}

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

void StepRecorder::left(const OpenCall& open, const Event& leave) {
  Step& call = steps_.at(process_, open.data.step);
  call.end_ns = leave.time_ns;
  if (open.cut) call.flags |= kCut;
  const mpi::Meaning& facts = facts_.functions[open.function];
  if (facts.polls && open.depth == 0 && !open.cut) {
    if (failed_polls_.size() <= leave.thread) failed_polls_.resize(leave.thread + std::size_t{1});
    const bool failed = leave.flag == 0 || (leave.flag < 0 && !open.data.completed);
    if (failed) failed_polls_[leave.thread] = {open.data.step, leave.time_ns};
  }
  if (facts.group == mpi::Group::kProbe && !open.cut && leave.flag != 0) probed(open, leave);
  if (facts.polls && facts.completes == mpi::Completes::kNothing && !open.cut && leave.flag == 1)
    saw_complete(open, leave);
  if (facts.epoch != mpi::Epoch::kNone && leave.flag != 0) end_in_epoch(open, leave);
  if (open.data.collective == kNobody) return;
  if (facts.sequence == mpi::Sequence::kNewCommunicator) place_in_new_communicator(open, leave);
  take_part(open, leave.time_ns);
  follow_objects(open, leave);
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
    objects_[leave.object] = {part.communicator, part.number + 1, epoch_ << 24};
  }
}

// Nothing for a window whose beginning is not in the trace.
std::optional<WindowName> StepRecorder::window_of(const OpenCall& open) const {
  const Object* const window = objects_.find(open.data.object);
  if (window == nullptr) return {};
  return WindowName{window->communicator, window->number};
}

Step& StepRecorder::new_notice(StepKind kind, const OpenCall& open, std::uint64_t time_ns,
                               std::uint32_t& number) {
  Step& step = steps_.append(process_, number);
  step.kind = kind;
  step.time_ns = time_ns;
  step.call = step.posted = open.data.step;
  step.communicator = open.communicator;
  step.thread = static_cast<std::uint16_t>(open.thread);
  step.flags = kHidden | kNotice;
  return step;
}

void StepRecorder::tell(const OpenCall& open, const std::vector<NoticeEnd>& ends,
                        std::uint64_t time_ns) {
  const auto window = window_of(open);
  if (!window) return;
  for (const NoticeEnd& end : ends) {
    std::uint32_t number = 0;
    new_notice(StepKind::kSend, open, time_ns, number);
    outgoing_.notices.push_back({notice_channel(*window, end.kind, rank_),
                                 end.peer,
                                 {time_ns, open.enter_ns, process_, number}});
  }
}

void StepRecorder::hear(const OpenCall& open, const std::vector<NoticeEnd>& ends,
                        std::uint64_t time_ns) {
  const auto window = window_of(open);
  if (!window) return;
  for (const NoticeEnd& end : ends) {
    std::uint32_t number = 0;
    new_notice(StepKind::kReceive, open, time_ns, number);
    outgoing_.heard.push_back(
        {notice_channel(*window, end.kind, end.peer), {time_ns, open.enter_ns, process_, number}});
  }
}

void StepRecorder::end_in_epoch(const OpenCall& open, const Event& leave) {
  const auto all = epochs_.left(facts_.functions[open.function].epoch, open.data.object);
  hear(open, all.heard, leave.time_ns);
  tell(open, all.told, leave.time_ns);
  if (!all.told.empty()) outgoing_.access_ends.push_back({process_, open.data.step});
}

// The call has found a message. Which one shows when it is received.
void StepRecorder::probed(const OpenCall& open, const Event& leave) {
  const mpi::Meaning& facts = facts_.functions[open.function];
  Probe probe{open.communicator, open.peer, open.tag, leave.time_ns, 0, facts.takes_message};
  const auto finds_it_too = [&](const Probe& earlier) {
    return !earlier.takes && earlier.communicator == probe.communicator &&
           earlier.peer == probe.peer && earlier.tag == probe.tag;
  };
  if (std::any_of(probes_.begin(), probes_.end(), finds_it_too)) return;
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

// MPI_Request_get_status has found that a receive is complete, which another call completes later.
// To that receive it is what a probe is to the one that takes its message. Without PERUSE the
// message is recorded only then.
void StepRecorder::saw_complete(const OpenCall& open, const Event& leave) {
  Request* const request = followed(open.request);
  if (request == nullptr || !request->active || request->group != trace::Group::kReceive) return;
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
  step.time_ns = leave.time_ns;
  step.call = step.posted = open.data.step;
  step.partner_step = request->message;
  step.communicator = request->communicator;
  step.number = static_cast<std::uint32_t>(request->tag);
  step.thread = static_cast<std::uint16_t>(leave.thread);
  if (request->message == kNobody) given.push_back(number);
}

// The first probe that matches has found this message, whose receive was posted after it.
void StepRecorder::found_by_probe(const Event& message, std::uint64_t posted_ns,
                                  std::uint32_t receive) {
  bool found = false;
  std::erase_if(probes_, [&](const Probe& probe) {
    if (probe.left_ns > posted_ns || probe.communicator != message.communicator ||
        (probe.peer != message.peer && probe.peer != trace::kAnySource) ||
        (probe.tag != message.tag && probe.tag != trace::kAnyTag) || (found && probe.takes))
      return false;
    if (!found) {
      steps_.at(process_, probe.step).partner_step = receive;
      steps_.at(process_, receive).flags |= kProbed;
    }
    found = true;
    return true;
  });
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

// The operation that the message belongs to: all of its messages at this process have one tag, which
// the first of them, in the call that begins it, shows. Null if that call had none.
StepRecorder::Neighbors* StepRecorder::neighbors_of(const Event& message) {
  const std::uint64_t key = neighbors_key(message.communicator, message.tag);
  if (Neighbors* const known = neighbors_.find(key)) return known;
  OpenCall* const open = innermost(message.thread);
  if (open == nullptr || open->data.neighbor_tag != 0 || open->communicator != message.communicator)
    return nullptr;
  const mpi::Meaning& means = facts_.functions[open->function];
  if (!mpi::is_neighborhood(means.collective) || !means.nonblocking()) return nullptr;
  open->data.neighbor_tag = message.tag;
  Neighbors& made = neighbors_[key];
  made.call = open->data.step;
  return &made;
}

void StepRecorder::received_from_neighbor(const Event& event, Step& receive, std::uint32_t number) {
  Neighbors* const neighbors = neighbors_of(event);
  if (neighbors == nullptr) return;
  receive.flags |= kByRequest;
  receive.posted = neighbors->call;
  neighbors->receives.push_back(number);
}

// No call will complete the operation: its messages count where they arrive.
void StepRecorder::forget(const Neighbors& neighbors) {
  for (const std::uint32_t receive : neighbors.receives)
    steps_.at(process_, receive).flags &= static_cast<std::uint8_t>(~kByRequest);
}

void StepRecorder::forget_neighbors() {
  neighbors_.for_each([this](std::uint64_t, const Neighbors& one) { forget(one); });
  neighbors_.clear();
}

// The request of such an operation is complete, and with it the receives of its messages.
void StepRecorder::complete_neighbors(const Event& event, const Request& request) {
  const std::uint64_t key = neighbors_key(request.communicator, request.data.neighbor_tag);
  const Neighbors* const neighbors = neighbors_.find(key);
  if (neighbors == nullptr) return;
  const OpenCall* const open = innermost(event.thread);
  for (const std::uint32_t receive : neighbors->receives) {
    std::uint32_t number = 0;
    Step& done = steps_.append(process_, number);
    done.kind = StepKind::kDone;
    done.time_ns = event.time_ns;
    done.call = open == nullptr ? kNobody : open->data.step;
    done.partner_step = receive;
    done.communicator = request.communicator;
    done.thread = static_cast<std::uint16_t>(event.thread);
  }
  neighbors_.erase(key);
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

void StepRecorder::request_made(Request& request, const OpenCall& open) {
  if (!request.persistent && request.message == kNobody) request.message = open.data.collective;
  request.data.neighbor_tag = open.data.neighbor_tag;
}

void StepRecorder::activated(Request& request, const OpenCall* open) {
  request.data.posted_in = open == nullptr ? kNobody : open->data.step;
  request.data.given.clear();
}

// Adds the step of a message's end, inside the open call.
std::uint32_t StepRecorder::new_message(const Event& event, const OpenCall* open) {
  std::uint32_t number = 0;
  Step& step = steps_.append(process_, number);
  step.kind = event.kind == EventKind::kMessageSent ? StepKind::kSend : StepKind::kReceive;
  step.time_ns = event.time_ns;
  step.bytes = event.bytes;
  step.call = step.posted = open == nullptr ? kNobody : open->data.step;
  step.communicator = event.communicator;
  step.number = static_cast<std::uint32_t>(event.tag);
  step.thread = static_cast<std::uint16_t>(event.thread);
  step.flags = hidden(event.code) ? kHidden : 0;
  const bool nonblocking = of_nonblocking_neighbor(event.code);
  if (step.has(kHidden) && (nonblocking || between_neighbors(open))) step.flags |= kNeighbor;
  return number;
}

void StepRecorder::sent(const Event& event, std::uint32_t number, const OpenCall* open,
                        bool by_request) {
  Step& send = steps_.at(process_, number);
  if (!send.has(kHidden) && open != nullptr && facts_.functions[open->function].synchronous) {
    send.flags |= kSynchronous;
  }
  if (by_request) send.flags |= kByRequest;
  if (of_nonblocking_neighbor(event.code)) neighbors_of(event);
  const std::uint64_t begin_ns = open == nullptr ? event.time_ns : open->enter_ns;
  outgoing_.sent.push_back({{event.communicator, rank_, event.tag},
                            event.peer,
                            {event.time_ns, begin_ns, process_, number}});
}

void StepRecorder::received(const Event& event, std::uint32_t number, const OpenCall* open,
                            Request* request, bool waited) {
  Step& receive = steps_.at(process_, number);
  if (request != nullptr) receive.flags |= kByRequest;
  if (of_nonblocking_neighbor(event.code)) received_from_neighbor(event, receive, number);
  if (!probes_.empty() && !receive.has(kHidden)) {
    const std::uint64_t now_ns = open == nullptr ? event.time_ns : open->enter_ns;
    found_by_probe(event, request == nullptr ? now_ns : request->posted_ns, number);
  }
  const Channels::Key key{event.communicator, event.peer, event.tag};
  trace::ChannelEnd end{event.time_ns, open == nullptr ? event.time_ns : open->enter_ns, process_,
                        number};
  if (!waited) {
    const bool by_request = request == nullptr && event.request != trace::kNoRequest;
    return channels_.receive_now(key, end, outgoing_.joined, by_request);
  }
  end.begin_ns = request->posted_ns;
  receive.posted = request->data.posted_in;
  for (const std::uint32_t given : request->data.given) {
    Step& step = steps_.at(process_, given);
    step.partner_step = number;
    if (step.kind == StepKind::kProbe) receive.flags |= kProbed;
  }
  request->data.given.clear();
  channels_.receive(key, request->posted, end, outgoing_.joined);
}

void StepRecorder::given(Request& request, const Event& event) {
  const OpenCall* open = innermost(event.thread);
  std::uint32_t number = 0;
  Step& given = steps_.append(process_, number);
  given.kind = StepKind::kGiven;
  given.time_ns = event.time_ns;
  given.call = given.posted = open->data.step;
  given.partner_step = request.message;
  given.communicator = request.communicator;
  given.thread = static_cast<std::uint16_t>(event.thread);
  if (request.message == kNobody) request.data.given.push_back(number);
}

void StepRecorder::completed(const Event& event, const Request* request, std::uint32_t what, bool) {
  OpenCall* open = innermost(event.thread);
  if (open != nullptr) open->data.completed = true;
  if (request != nullptr && request->data.neighbor_tag != 0) complete_neighbors(event, *request);
  if (request == nullptr || (what == kNobody && event.flag != 1)) return;
  std::uint32_t number = 0;
  Step& done = steps_.append(process_, number);
  done.kind = StepKind::kDone;
  done.time_ns = event.time_ns;
  done.call = open == nullptr ? kNobody : open->data.step;
  done.partner_step = what;
  done.communicator = request->communicator;
  done.thread = static_cast<std::uint16_t>(event.thread);
  done.flags = event.flag == 1 ? kCancelled : 0;
}

void StepRecorder::member_given(const Event& event) {
  const OpenCall* const open = innermost(event.thread);
  if (open == nullptr) return;
  const mpi::Epoch epoch = facts_.functions[open->function].epoch;
  if (epoch == mpi::Epoch::kNone) return;
  tell(*open, epochs_.given(epoch, open->data.object, event.peer), open->enter_ns);
}

void StepRecorder::other(const Event& event) {
  const bool phase = event.kind == EventKind::kPhaseBegin || event.kind == EventKind::kPhaseEnd;
  if (phase && event.thread < failed_polls_.size()) failed_polls_[event.thread].step = kNobody;
  if (event.kind == EventKind::kMemberGiven) member_given(event);
  if (event.kind == EventKind::kPhaseBegin) phases_.push_back(event.code);
  if (event.kind != EventKind::kPhaseEnd) return;
  const auto open = std::find(phases_.rbegin(), phases_.rend(), event.code);
  if (open != phases_.rend()) phases_.erase(std::next(open).base(), phases_.end());
}

void StepRecorder::close_communicators() {
  for (const std::int32_t communicator : facts_.communicators[process_]) {
    outgoing_.closings.push_back(
        {communicator, 0, epoch_, sequences_[static_cast<std::size_t>(communicator)]});
  }
  objects_.for_each([this](std::uint64_t, const Object& object) {
    outgoing_.closings.push_back({object.communicator, object.number, epoch_, object.sequence});
  });
}

void StepRecorder::lost(const Event& event) {
  ++losses_;
  std::uint32_t number = 0;
  Step& step = steps_.append(process_, number);
  step.kind = StepKind::kLost;
  step.time_ns = event.time_ns;
  step.call = kNobody;
  step.thread = static_cast<std::uint16_t>(event.thread);
  channels_.loss_here(event.time_ns, outgoing_.joined);
  outgoing_.losses.push_back({rank_, 0, event.time_ns});
  failed_polls_.clear();
  probes_.clear();
  epochs_.clear();
  forget_neighbors();
  if (incomplete_) return;
  close_communicators();
  if (event.kind == EventKind::kLost) {
    lost_records_ += event.count;
    incomplete_ = true;
  } else {
    ++epoch_;
    std::fill(sequences_.begin(), sequences_.end(), epoch_ << 24);  // an epoch has its own numbers
    objects_.for_each([this](std::uint64_t, Object& object) { object.sequence = epoch_ << 24; });
  }
}

void StepRecorder::finish() {
  end_open_calls();
  forget_neighbors();
  if (!incomplete_) close_communicators();
}

}  // namespace fathom::analysis
