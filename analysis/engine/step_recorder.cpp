// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/step_recorder.h"

#include <algorithm>

#include "mpi/wait_kind.h"

namespace fathom::analysis {

using trace::Event;
using trace::EventKind;

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
      persistent_(facts.members.size()),
      epochs_(rank_) {
  begin(facts.definitions.processes[process]);
  const auto& opening = facts.definitions.processes[process].opening;
  if (!opening) return;
  for (const trace::Opening::Sequence& before : opening->sequences) {
    const std::int32_t communicator = before.communicator < 0 ? facts.job() : before.communicator;
    // Within the first epoch's share of the numbers: all members begin in the same way.
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
  const mpi::Meaning& means = facts_.functions[event.function];
  if (means.epoch != mpi::Epoch::kNone) epochs_.entered(means.epoch, event.object);
  if (means.lock == mpi::LockStep::kLock) open.data.lock = static_cast<trace::LockType>(event.code);
  if (means.lock != mpi::LockStep::kNone) locks_.entered(event.time_ns);
  if (!facts_.from_the_first && event.object != 0) note_unknown_object(event);
  if (means.nonblocking() && mpi::is_neighborhood(means.collective) && event.tag != 0) {
    open.data.neighbor_tag = event.tag;
    begin_neighbors(event.communicator, event.tag, open.data.step);
  }
  begin_collective(open, event);
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
    saw_complete(followed(open.request), open, leave);
  if (facts.epoch != mpi::Epoch::kNone && leave.flag != 0) end_in_epoch(open, leave);
  if (facts.lock != mpi::LockStep::kNone) end_in_lock(open, leave);
  if (open.data.collective == kNobody) return;
  if (facts.sequence == mpi::Sequence::kNewCommunicator) place_in_new_communicator(open, leave);
  take_part(open, leave.time_ns);
  follow_objects(open, leave);
}

void StepRecorder::request_made(Request& request, const OpenCall& open) {
  if (!request.persistent && request.message == kNobody) request.message = open.data.collective;
  request.data.neighbor_tag = open.data.neighbor_tag;
  if (request.persistent && facts_.functions[open.function].collective != mpi::Collective::kNone)
    make_persistent(request, open);
}

void StepRecorder::activated(Request& request, OpenCall* open) {
  request.data.posted_in = open == nullptr ? kNobody : open->data.step;
  const bool receives = request.group == trace::Group::kReceive;
  request.data.held = open == nullptr || !receives ? 0 : open->data.object;
  request.data.given.clear();
  request.data.partitions.clear();
  if (request.data.collective.name != 0 && open != nullptr && !incomplete_)
    start_collective(request, *open);
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
  if (of_nonblocking_neighbor(event.code)) add_to_neighbors(event, send, number);
  if (Request* const operation = is_partition(event) ? operation_of(event) : nullptr) {
    send.flags = static_cast<std::uint8_t>((send.flags | kByRequest) & ~kHidden);
    operation->data.partitions.push_back(number);
  }
  const std::uint64_t begin_ns = open == nullptr ? event.time_ns : open->enter_ns;
  outgoing_.sent.push_back({{event.communicator, rank_, event.tag},
                            event.peer,
                            {event.time_ns, begin_ns, process_, number}});
}

void StepRecorder::received(const Event& event, std::uint32_t number, const OpenCall* open,
                            Request* request, const Channels::Posted* place) {
  Step& receive = steps_.at(process_, number);
  if (request != nullptr) receive.flags |= kByRequest;
  if (!probes_.empty() && !receive.has(kHidden)) {
    const std::uint64_t now_ns = open == nullptr ? event.time_ns : open->enter_ns;
    const std::uint64_t handle = request != nullptr ? request->data.held
                                 : place != nullptr ? open->data.object
                                                    : 0;
    found_by_probe(event, request == nullptr ? now_ns : request->posted_ns, handle, number);
  }
  const Channels::Key key{event.communicator, event.peer, event.tag};
  trace::ChannelEnd end{event.time_ns, open == nullptr ? event.time_ns : open->enter_ns, process_,
                        number};
  if (of_nonblocking_neighbor(event.code)) {
    if (const Neighbors* const neighbors = add_to_neighbors(event, receive, number)) {
      receive.posted = neighbors->call;
      end.begin_ns = steps_.at(process_, neighbors->call).time_ns;
    }
  }
  if (Request* const operation = is_partition(event) ? operation_of(event) : nullptr) {
    receive.flags = static_cast<std::uint8_t>((receive.flags | kByRequest) & ~kHidden);
    receive.posted = operation->data.posted_in;
    end.begin_ns = operation->posted_ns;
    operation->data.partitions.push_back(number);
  }
  if (place == nullptr) {
    return channels_.receive_now(key, end, outgoing_.joined,
                                 is_of_unknown_request(event, request, open));
  }
  if (request == nullptr) return channels_.receive(key, *place, end, outgoing_.joined);
  end.begin_ns = request->posted_ns;
  receive.posted = request->data.posted_in;
  for (const std::uint32_t given : request->data.given) {
    Step& step = steps_.at(process_, given);
    step.partner_step = number;
    if (step.kind == StepKind::kProbe) receive.flags |= kProbed;
  }
  request->data.given.clear();
  channels_.receive(key, *place, end, outgoing_.joined);
}

void StepRecorder::given(Request& request, const Event& event) {
  const OpenCall* open = innermost(event.thread);
  if (facts_.functions[open->function].sees != mpi::Completes::kNothing)
    return saw_complete(&request, *open, event);
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
  if (request != nullptr && !request->data.partitions.empty())
    complete_parts(event, *request, request->data.partitions);
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

void StepRecorder::other(const Event& event) {
  const bool phase = event.kind == EventKind::kPhaseBegin || event.kind == EventKind::kPhaseEnd;
  if (phase && event.thread < failed_polls_.size()) failed_polls_[event.thread].step = kNobody;
  if (event.kind == EventKind::kMemberGiven) member_given(event);
  if (event.kind == EventKind::kPhaseBegin) phases_.push_back(event.code);
  if (event.kind != EventKind::kPhaseEnd) return;
  const auto open = std::find(phases_.rbegin(), phases_.rend(), event.code);
  if (open != phases_.rend()) phases_.erase(std::next(open).base(), phases_.end());
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
  give_up_locks(event.time_ns);
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
    for_each_request([this](Request& request) { request.data.collective.starts = epoch_ << 24; });
  }
}

void StepRecorder::finish() {
  end_open_calls();
  forget_neighbors();
  if (!incomplete_) close_communicators();
}

// ---- what calls at windows tell each other: epochs and locks ----

// What it waits for, if the window or file was made before the trace began: how many calls others have
// made at it before, nobody knows.
void StepRecorder::note_unknown_object(const Event& enter) {
  const mpi::Meaning& means = facts_.functions[enter.function];
  const bool may_wait = means.epoch != mpi::Epoch::kNone || means.lock == mpi::LockStep::kLock ||
                        means.lock == mpi::LockStep::kUnlock ||
                        means.sequence == mpi::Sequence::kWindow ||
                        means.sequence == mpi::Sequence::kFile;
  if (may_wait && objects_.find(enter.object) == nullptr) ++of_unknown_objects_;
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

void StepRecorder::end_in_lock(const OpenCall& open, const Event& leave) {
  const auto attempts = locks_.left(facts_.functions[open.function].lock, open.data.object,
                                    open.peer, open.data.lock, open.enter_ns, leave.time_ns);
  const auto window = window_of(open);
  if (!window) return;
  for (const LockEpochs::Attempt& attempt : attempts) {
    if (open.cut) {
      if (attempt.releases) give_up(*window, attempt, leave.time_ns);
      continue;
    }
    LockCall call;
    call.window = *window;
    call.process = process_;
    call.attempt = attempt;
    call.enter_ns = open.enter_ns;
    call.leave_ns = leave.time_ns;
    if (attempt.waits)
      new_notice(StepKind::kReceive, open, leave.time_ns, call.hears).number = kAboutLock;
    if (attempt.releases)
      new_notice(StepKind::kSend, open, leave.time_ns, call.tells).number = kAboutLock;
    outgoing_.locks.push_back(call);
  }
}

// When the lock ends is not known.
void StepRecorder::give_up(const WindowName& window, LockEpochs::Attempt attempt,
                           std::uint64_t time_ns) {
  attempt.waits = attempt.has_lock = attempt.releases = false;
  attempt.lost = true;
  LockCall call;
  call.window = window;
  call.process = process_;
  call.attempt = attempt;
  call.enter_ns = call.leave_ns = time_ns;
  outgoing_.locks.push_back(call);
}

void StepRecorder::give_up_locks(std::uint64_t time_ns) {
  for (const LockEpochs::HeldLock& held : locks_.clear()) {
    const Object* const window = objects_.find(held.window);
    if (window != nullptr) give_up({window->communicator, window->number}, held.attempt, time_ns);
  }
}

void StepRecorder::member_given(const Event& event) {
  const OpenCall* const open = innermost(event.thread);
  if (open == nullptr) return;
  const mpi::Epoch epoch = facts_.functions[open->function].epoch;
  if (epoch == mpi::Epoch::kNone) return;
  tell(*open, epochs_.given(epoch, open->data.object, event.peer), open->enter_ns);
}

}  // namespace fathom::analysis
