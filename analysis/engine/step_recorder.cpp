// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/step_recorder.h"

#include <algorithm>

namespace fathom::analysis {
namespace {

using trace::Event;
using trace::EventKind;
using trace::Group;

constexpr std::size_t kMostEarlier = 1 << 16;

}  // namespace

StepRecorder::StepRecorder(const JobFacts& facts, std::uint32_t process, RecorderOptions options,
                           StepFile& steps, Channels& channels, Outgoing& outgoing)
    : facts_(facts),
      process_(process),
      rank_(static_cast<std::int32_t>(facts.definitions.processes[process].rank)),
      options_(options),
      steps_(steps),
      channels_(channels),
      outgoing_(outgoing),
      sequences_(facts.definitions.communicators.size()) {}

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

void StepRecorder::step(const Event& event) {
  last_ns_ = std::max(last_ns_, event.time_ns);
  switch (event.kind) {
    case EventKind::kEnter: return enter(event);
    case EventKind::kLeave: return leave(event);
    case EventKind::kMessageSent: return sent(event);
    case EventKind::kMessageReceived: return received(event);
    case EventKind::kRequestCompleted: return completed(event);
    case EventKind::kPhaseBegin:
    case EventKind::kPhaseEnd: return phase(event);
    case EventKind::kLost:
    case EventKind::kPause: return lost(event);
    case EventKind::kRequestGiven: {
      Thread& here = thread(event.thread);
      if (here.open.empty() ||
          facts_.functions[here.open.back().function].requests != Requests::kStarts)
        return;
      Request* request = requests_.find(event.request);
      if (request && !request->active) activate(event.request, *request, event.time_ns, here);
      return;
    }
    default: return;
  }
}

void StepRecorder::enter(const Event& event) {
  Thread& here = thread(event.thread);
  std::uint32_t number = 0;
  Step& call = steps_.append(process_, number);
  call.time_ns = event.time_ns;
  call.bytes = event.bytes;
  call.posted = number;
  call.number = event.function;
  call.communicator = event.communicator;
  call.thread = static_cast<std::uint16_t>(event.thread);
  call.partner = phases_.empty() ? kNobody : phases_.back();
  call.partner_step = site(event.site);
  call.flags = here.open.empty() ? 0 : kNested;
  OpenCall& open = here.open.emplace_back();
  open.enter_ns = event.time_ns;
  open.step = number;
  open.function = event.function;
  open.communicator = event.communicator;
  open.root = event.root;
  open.peer = event.peer;
  open.tag = event.tag;
  here.started.clear();
  const mpi::Meaning& facts = facts_.functions[event.function];
  if (facts.in_sequence && event.communicator >= 0 && !incomplete_) {
    Step& part = steps_.append(process_, open.collective);
    part.kind = StepKind::kCollective;
    part.time_ns = event.time_ns;
    part.call = part.posted = number;
    part.communicator = event.communicator;
    part.number = sequences_[static_cast<std::size_t>(event.communicator)]++;
    part.thread = static_cast<std::uint16_t>(event.thread);
    part.flags = facts.requests == Requests::kMakesAndStarts ? kByRequest : 0;
  }
  if (facts.requests == Requests::kFrees) return free_request(event.request);
  if (facts.requests != Requests::kStarts || event.request == trace::kNoRequest) return;
  Request* request = requests_.find(event.request);
  if (request && !request->active) activate(event.request, *request, event.time_ns, here);
}

// A leave without its enter (records were lost) closes nothing; open calls above the one that is
// left lost theirs.
void StepRecorder::leave(const Event& event) {
  Thread& here = thread(event.thread);
  const auto found = std::find_if(here.open.rbegin(), here.open.rend(), [&](const OpenCall& call) {
    return call.function == event.function;
  });
  if (found == here.open.rend()) return;
  const auto depth = static_cast<std::size_t>(here.open.rend() - found);
  while (here.open.size() > depth) end_call(here, event.time_ns, true);
  make_request(here, event);
  end_call(here, event.time_ns, false);
}

void StepRecorder::end_call(Thread& here, std::uint64_t leave_ns, bool cut) {
  const OpenCall& open = here.open.back();
  Step& call = steps_.at(process_, open.step);
  call.end_ns = leave_ns;
  if (cut) call.flags |= kCut;
  if (open.collective != kNobody) take_part(open, leave_ns);
  here.open.pop_back();
}

void StepRecorder::take_part(const OpenCall& open, std::uint64_t leave_ns) {
  const Step& step = steps_.at(process_, open.collective);
  Participation part;
  part.communicator = open.communicator;
  part.epoch = epoch_;
  part.sequence = step.number;
  part.process = process_;
  part.step = open.collective;
  part.function = open.function;
  part.root = facts_.process_of(open.root);
  part.enter_ns = open.enter_ns;
  part.leave_ns = step.has(kByRequest) ? 0 : leave_ns;
  outgoing_.parts.push_back(part);
}

// What the call that is being left made.
void StepRecorder::make_request(Thread& here, const Event& event) {
  const OpenCall& open = here.open.back();
  const mpi::Meaning& facts = facts_.functions[open.function];
  if (facts.requests != Requests::kMakes && facts.requests != Requests::kMakesAndStarts) return;
  const std::uint64_t number = event.request;
  if (number == trace::kNoRequest) {  // complete when the call returned: no other call waits for it
    for (const std::uint32_t step : {open.sent, open.collective}) {
      if (step != kNobody)
        steps_.at(process_, step).flags &= static_cast<std::uint8_t>(~kByRequest);
    }
    return;
  }
  Request* request = &requests_[number];
  // What it received during the call itself is known already.
  const bool early = request->active && request->posted_ns >= open.enter_ns &&
                     request->group == Group::kReceive && !request->waits && !request->persistent;
  if (!early) {
    if (request->active && request->group == Group::kReceive) stop_waiting(*request);
    if (request->active && !request->persistent && request->group == Group::kSend) {
      remember_earlier(number, request->step);
    }
    request = &requests_[number];
    *request = {};
  }
  request->group = facts.group;
  request->communicator = open.communicator;
  request->peer = open.peer;
  request->tag = open.tag;
  request->persistent = facts.requests == Requests::kMakes;
  if (early || request->persistent) return;
  request->step = open.sent != kNobody ? open.sent : open.collective;
  activate(number, *request, open.enter_ns, here);
}

void StepRecorder::remember_earlier(std::uint64_t number, std::uint32_t step) {
  if (step == kNobody) return;
  auto& steps = earlier_[number];
  steps.push_back(step);
  if (steps.size() > kMostEarlier) steps.erase(steps.begin());
}

void StepRecorder::activate(std::uint64_t number, Request& request, std::uint64_t posted_ns,
                            Thread& here) {
  request.active = true;
  request.posted_in = here.open.empty() ? kNobody : here.open.back().step;
  request.posted_ns = posted_ns;
  if (request.persistent) request.step = kNobody;
  if (request.persistent && request.group == Group::kSend) here.started.push_back(number);
  if (request.group != Group::kReceive || request.peer == trace::kNullProcess) return;
  request.waits = true;
  request.posted = channels_.post({request.communicator, request.peer, request.tag});
}

void StepRecorder::stop_waiting(Request& request) {
  if (!request.waits) return;
  request.waits = false;
  channels_.withdraw(request.posted, outgoing_.joined);
}

void StepRecorder::free_request(std::uint64_t number) {
  Request* request = requests_.find(number);
  if (request == nullptr) return;
  stop_waiting(*request);
  requests_.erase(number);
}

// Sends are recorded where the library gets them, which knows no request yet: the call that the
// message is sent in tells. (Traces of other tools may name the request.)
bool StepRecorder::belongs_to_request(const Event& event, std::uint32_t step) {
  Thread& here = thread(event.thread);
  if (here.open.empty()) return false;
  OpenCall& open = here.open.back();
  const Requests does = facts_.functions[open.function].requests;
  if (does == Requests::kMakesAndStarts) {
    open.sent = step;
    return true;
  }
  if (does != Requests::kStarts || here.started.empty()) return false;
  auto first = here.started.begin();
  if (event.request != trace::kNoRequest)
    first = std::find(here.started.begin(), here.started.end(), event.request);
  if (first == here.started.end()) return false;
  if (Request* request = requests_.find(*first)) request->step = step;
  here.started.erase(first);
  return true;
}

// A message's end as it comes, in the call that is open.
Step& StepRecorder::append_message(StepKind kind, const Event& event, const Thread& here,
                                   std::uint32_t& number) {
  Step& step = steps_.append(process_, number);
  step.kind = kind;
  step.time_ns = event.time_ns;
  step.bytes = event.bytes;
  step.call = step.posted = here.open.empty() ? kNobody : here.open.back().step;
  step.communicator = event.communicator;
  step.number = static_cast<std::uint32_t>(event.tag);
  step.thread = static_cast<std::uint16_t>(event.thread);
  return step;
}

void StepRecorder::sent(const Event& event) {
  const bool is_hidden = hidden(event.code);
  if (is_hidden && !options_.hidden_messages) return;
  Thread& here = thread(event.thread);
  std::uint32_t number = 0;
  Step& send = append_message(StepKind::kSend, event, here, number);
  const std::uint64_t begin_ns = here.open.empty() ? event.time_ns : here.open.back().enter_ns;
  if (is_hidden) {
    send.flags = kHidden;
  } else {
    if (!here.open.empty() && facts_.functions[here.open.back().function].synchronous)
      send.flags |= kSynchronous;
    if (belongs_to_request(event, number)) send.flags |= kByRequest;
  }
  outgoing_.sent.push_back({{event.communicator, rank_, event.tag},
                            event.peer,
                            {event.time_ns, begin_ns, process_, number}});
}

StepRecorder::Request* StepRecorder::request_of(const Event& event) {
  if (event.request == trace::kNoRequest) return nullptr;
  Request* request = requests_.find(event.request);
  Thread& here = thread(event.thread);
  if (request == nullptr &&
      !here.open.empty()) {  // complete before the call that posts it has returned?
    const OpenCall& open = here.open.back();
    const mpi::Meaning& facts = facts_.functions[open.function];
    if (facts.requests != Requests::kMakesAndStarts || facts.group != Group::kReceive)
      return nullptr;
    request = &requests_[event.request];
    request->group = Group::kReceive;
    request->communicator = open.communicator;
    request->peer = open.peer;
    request->tag = open.tag;
    activate(event.request, *request, open.enter_ns, here);
  }
  if (request && (request->group != Group::kReceive)) return nullptr;
  if (request && request->persistent && !request->active)
    activate(event.request, *request, event.time_ns, here);
  return request;
}

void StepRecorder::received(const Event& event) {
  const bool is_hidden = hidden(event.code);
  if (is_hidden && !options_.hidden_messages) return;
  Thread& here = thread(event.thread);
  Request* request = is_hidden ? nullptr : request_of(event);
  std::uint32_t number = 0;
  Step& receive = append_message(StepKind::kReceive, event, here, number);
  receive.flags = static_cast<std::uint8_t>((is_hidden ? kHidden : 0) | (request ? kByRequest : 0));
  const Channels::Key key{event.communicator, event.peer, event.tag};
  MessageEnd end{event.time_ns, here.open.empty() ? event.time_ns : here.open.back().enter_ns,
                 process_, number};
  if (request == nullptr || !request->waits)
    return channels_.receive_now(key, end, outgoing_.joined);
  end.begin_ns = request->posted_ns;
  steps_.at(process_, number).posted = request->posted_in;
  request->step = number;
  request->waits = false;
  channels_.receive(key, request->posted, end, outgoing_.joined);
}

void StepRecorder::completed(const Event& event) {
  Request* request = requests_.find(event.request);
  if (request == nullptr || !request->active) return;
  stop_waiting(*request);
  std::uint32_t what = request->step;
  bool ends = true;
  if (auto* earlier = earlier_.find(event.request); earlier != nullptr && !earlier->empty()) {
    what = earlier->front();
    earlier->erase(earlier->begin());
    ends = false;
  }
  if (what != kNobody || event.flag == 1) {
    const Thread& here = thread(event.thread);
    std::uint32_t number = 0;
    Step& done = steps_.append(process_, number);
    done.kind = StepKind::kDone;
    done.time_ns = event.time_ns;
    done.call = here.open.empty() ? kNobody : here.open.back().step;
    done.partner_step = what;
    done.communicator = request->communicator;
    done.thread = static_cast<std::uint16_t>(event.thread);
    done.flags = event.flag == 1 ? kCancelled : 0;
  }
  if (!ends) return;
  if (request->persistent) {
    request->active = false;
    request->step = kNobody;
  } else {
    requests_.erase(event.request);
  }
}

void StepRecorder::phase(const Event& event) {
  if (event.kind == EventKind::kPhaseBegin) {
    phases_.push_back(event.code);
    return;
  }
  const auto open = std::find(phases_.rbegin(), phases_.rend(), event.code);
  if (open != phases_.rend()) phases_.erase(std::next(open).base(), phases_.end());
}

void StepRecorder::close_communicators() {
  for (const std::int32_t communicator : facts_.communicators[process_]) {
    outgoing_.closings.push_back(
        {communicator, epoch_, sequences_[static_cast<std::size_t>(communicator)]});
  }
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
  if (incomplete_) return;
  close_communicators();
  if (event.kind == EventKind::kLost) {
    lost_records_ += event.count;
    incomplete_ = true;
  } else {
    ++epoch_;
    std::fill(sequences_.begin(), sequences_.end(), epoch_ << 24);  // so that numbers stay apart
  }
}

void StepRecorder::finish() {
  for (Thread& each : threads_) {
    while (!each.open.empty()) end_call(each, last_ns_, true);
  }
  if (!incomplete_) close_communicators();
}

}  // namespace fathom::analysis
