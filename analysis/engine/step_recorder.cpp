// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/step_recorder.h"

#include <algorithm>

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

void StepRecorder::entered(OpenCall& open, const Event& event) {
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
  call.flags = open.depth == 0 ? 0 : kNested;
  open.data.step = number;
  open.data.root = event.root;
  const mpi::Meaning& facts = facts_.functions[event.function];
  if (!facts.in_sequence || event.communicator < 0 || incomplete_) return;
  Step& part = steps_.append(process_, open.data.collective);
  part.kind = StepKind::kCollective;
  part.time_ns = event.time_ns;
  part.call = part.posted = number;
  part.communicator = event.communicator;
  part.number = sequences_[static_cast<std::size_t>(event.communicator)]++;
  part.thread = static_cast<std::uint16_t>(event.thread);
  part.flags = facts.requests == Requests::kMakesAndStarts ? kByRequest : 0;
}

void StepRecorder::left(const OpenCall& open, const Event& leave) {
  Step& call = steps_.at(process_, open.data.step);
  call.end_ns = leave.time_ns;
  if (open.cut) call.flags |= kCut;
  if (open.data.collective != kNobody) take_part(open, leave.time_ns);
}

void StepRecorder::take_part(const OpenCall& open, std::uint64_t leave_ns) {
  const Step& step = steps_.at(process_, open.data.collective);
  Participation part;
  part.communicator = open.communicator;
  part.epoch = epoch_;
  part.sequence = step.number;
  part.process = process_;
  part.step = open.data.collective;
  part.function = open.function;
  part.root = facts_.process_of(open.data.root);
  part.enter_ns = open.enter_ns;
  part.leave_ns = step.has(kByRequest) ? 0 : leave_ns;
  outgoing_.parts.push_back(part);
}

// The call returned no request of its own, so no later call completes the step.
void StepRecorder::complete_at_return(const OpenCall& open, const Event&) {
  for (const std::uint32_t step : {open.sent, open.data.collective}) {
    if (step != kNobody) steps_.at(process_, step).flags &= static_cast<std::uint8_t>(~kByRequest);
  }
}

void StepRecorder::request_made(Request& request, const OpenCall& open) {
  if (!request.persistent && request.message == kNobody) request.message = open.data.collective;
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
  return number;
}

void StepRecorder::sent(const Event& event, std::uint32_t number, const OpenCall* open,
                        bool by_request) {
  Step& send = steps_.at(process_, number);
  if (!send.has(kHidden) && open != nullptr && facts_.functions[open->function].synchronous) {
    send.flags |= kSynchronous;
  }
  if (by_request) send.flags |= kByRequest;
  const std::uint64_t begin_ns = open == nullptr ? event.time_ns : open->enter_ns;
  outgoing_.sent.push_back({{event.communicator, rank_, event.tag},
                            event.peer,
                            {event.time_ns, begin_ns, process_, number}});
}

void StepRecorder::received(const Event& event, std::uint32_t number, const OpenCall* open,
                            Request* request, bool waited) {
  Step& receive = steps_.at(process_, number);
  if (request != nullptr) receive.flags |= kByRequest;
  const Channels::Key key{event.communicator, event.peer, event.tag};
  trace::ChannelEnd end{event.time_ns, open == nullptr ? event.time_ns : open->enter_ns, process_,
                        number};
  if (!waited) return channels_.receive_now(key, end, outgoing_.joined);
  end.begin_ns = request->posted_ns;
  receive.posted = request->data.posted_in;
  for (const std::uint32_t given : request->data.given)
    steps_.at(process_, given).partner_step = number;
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
  if (request == nullptr || (what == kNobody && event.flag != 1)) return;
  const OpenCall* open = innermost(event.thread);
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
  if (event.kind == EventKind::kPhaseBegin) phases_.push_back(event.code);
  if (event.kind != EventKind::kPhaseEnd) return;
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
    std::fill(sequences_.begin(), sequences_.end(), epoch_ << 24);  // an epoch has its own numbers
  }
}

void StepRecorder::finish() {
  end_open_calls();
  if (!incomplete_) close_communicators();
}

}  // namespace fathom::analysis
