// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/causal_order.h"

#include <algorithm>
#include <tuple>

namespace fathom::analysis {
namespace {

Moment moment_of(StepKind kind) {
  switch (kind) {
    case StepKind::kCall: return Moment::kEnter;
    case StepKind::kSend: return Moment::kSend;
    case StepKind::kReceive: return Moment::kReceive;
    case StepKind::kCollective: return Moment::kCollective;
    case StepKind::kDone: return Moment::kDone;
    case StepKind::kGiven: return Moment::kGiven;
    case StepKind::kProbe: return Moment::kProbe;
    case StepKind::kLost: break;
  }
  return Moment::kLost;
}

}  // namespace

bool CausalOrder::Later::operator()(const Visit& a, const Visit& b) const {
  if (a.time_ns != b.time_ns)
    return direction == Direction::kForward ? a.time_ns > b.time_ns : a.time_ns < b.time_ns;
  return a.process > b.process;
}

CausalOrder::CausalOrder(const JoinedJob& job, Direction direction)
    : job_(job),
      direction_(direction),
      cursors_(job.definitions().processes.size()),
      ready_(Later{direction}) {
  for (std::uint32_t process = 0; process < cursors_.size(); ++process)
    cursors_[process].ended = !job.is_own(process);
  for (const std::uint32_t process : job.own()) {
    if (direction == Direction::kBackward) cursors_[process].at = job.steps().size(process);
    prepare(process);
  }
  for (const std::uint32_t process : job.own()) queue_or_stall(process);
}

bool CausalOrder::next(Visit& visit) {
  if (ready_.empty()) break_cycle();
  if (ready_.empty()) return false;
  visit = ready_.top();
  ready_.pop();
  job_.steps().touched(1);
  advance(visit);
  prepare(visit.process);
  queue_or_stall(visit.process);
  std::vector<std::uint32_t> waiting;
  waiting.swap(cursors_[visit.process].waiting);
  for (const std::uint32_t process : waiting) {
    std::erase_if(stalled_, [&](const Visit& entry) { return entry.process == process; });
    queue_or_stall(process);
  }
  return true;
}

bool CausalOrder::visited(std::uint32_t process, std::uint32_t number) const {
  const Cursor& cursor = cursors_[process];
  return cursor.ended ||
         (direction_ == Direction::kForward ? cursor.at > number : cursor.at <= number);
}

void CausalOrder::prepare(std::uint32_t process) {
  if (cursors_[process].ended) return;
  direction_ == Direction::kForward ? prepare_forward(process) : prepare_backward(process);
}

// The next step, or the leave of the open call that is left first. At equal times the nested one
// comes first.
void CausalOrder::prepare_forward(std::uint32_t process) {
  Cursor& cursor = cursors_[process];
  const auto first = std::min_element(
      cursor.open.begin(), cursor.open.end(), [&](const OpenCall& a, const OpenCall& b) {
        const std::uint64_t end_a = step(process, a.step).end_ns,
                            end_b = step(process, b.step).end_ns;
        return std::tuple(end_a, b.step) < std::tuple(end_b, a.step);
      });
  const bool more = cursor.at < job_.steps().size(process);
  if (first == cursor.open.end() && !more) {
    cursor.ended = true;
    return;
  }
  if (more) {
    const Step& next = step(process, cursor.at);
    const std::uint64_t leave_ns =
        first == cursor.open.end() ? ~std::uint64_t{0} : step(process, first->step).end_ns;
    if (next.time_ns < leave_ns || (next.time_ns == leave_ns && next.call == first->step)) {
      cursor.coming = {next.time_ns, process, cursor.at, moment_of(next.kind)};
      return;
    }
  }
  cursor.coming = {step(process, first->step).end_ns, process, first->step, Moment::kLeave};
}

// Backward: a step inside a call comes after the call's leave; a call without steps is left and
// entered in a row.
void CausalOrder::prepare_backward(std::uint32_t process) {
  Cursor& cursor = cursors_[process];
  if (cursor.at == 0) {
    cursor.ended = true;
    return;
  }
  const std::uint32_t number = cursor.at - 1;
  const Step& next = step(process, number);
  const auto is_open = [&](std::uint32_t call) {
    return std::any_of(cursor.open.begin(), cursor.open.end(),
                       [&](const OpenCall& open) { return open.step == call; });
  };
  const std::uint32_t around =
      next.kind == StepKind::kCall ? caller_of(process, number) : next.call;
  if (around != kNobody && around < number && !is_open(around)) {
    const std::uint32_t outer = caller_of(process, around);
    const std::uint32_t left = outer != kNobody && !is_open(outer) ? outer : around;
    cursor.coming = {step(process, left).end_ns, process, left, Moment::kLeave};
  } else if (next.kind == StepKind::kCall && !is_open(number)) {
    cursor.coming = {next.end_ns, process, number, Moment::kLeave};
  } else {
    cursor.coming = {next.time_ns, process, number, moment_of(next.kind)};
  }
}

// The call inside which this call was made; kNobody for a call of the program.
std::uint32_t CausalOrder::caller_of(std::uint32_t process, std::uint32_t number) const {
  const Step& call = step(process, number);
  if (!call.has(kNested)) return kNobody;
  for (std::uint32_t before = number; before-- > 0;) {
    const Step& other = step(process, before);
    if (other.kind == StepKind::kCall && other.thread == call.thread && other.end_ns >= call.end_ns)
      return before;
  }
  return kNobody;
}

// Updates the cursor of the visit's process.
void CausalOrder::advance(const Visit& visit) {
  Cursor& cursor = cursors_[visit.process];
  const bool forward = direction_ == Direction::kForward;
  const auto close = [&] {
    std::erase_if(cursor.open, [&](const OpenCall& open) { return open.step == visit.step; });
  };
  if (visit.moment == Moment::kLeave) {
    forward ? close() : static_cast<void>(cursor.open.push_back({visit.step}));
    return;
  }
  cursor.at = forward ? visit.step + 1 : visit.step;
  const Step& met = step(visit.process, visit.step);
  if (visit.moment == Moment::kEnter) {
    forward ? static_cast<void>(cursor.open.push_back({visit.step})) : close();
  } else if (forward && visit.moment == Moment::kCollective && met.has(kJoined) &&
             !met.has(kByRequest)) {
    for (OpenCall& open : cursor.open) {
      if (open.step != met.call) continue;
      open.partner = met.partner;
      open.partner_step = met.partner_step;
    }
  }
}

// The process whose step must be visited first; kNobody if there is none.
std::uint32_t CausalOrder::waits_for(const Visit& visit) const {
  std::uint32_t partner = kNobody, partner_step = 0;
  const Step& coming = step(visit.process, visit.step);
  const Moment later_end = direction_ == Direction::kForward ? Moment::kReceive : Moment::kSend;
  if (visit.moment == later_end && coming.has(kJoined)) {
    partner = coming.partner;
    partner_step = coming.partner_step;
  } else if (visit.moment == Moment::kLeave && direction_ == Direction::kForward) {
    for (const OpenCall& open : cursors_[visit.process].open) {
      if (open.step != visit.step) continue;
      partner = open.partner;
      partner_step = open.partner_step;
    }
  }
  if (partner == kNobody || partner == visit.process || visited(partner, partner_step))
    return kNobody;
  return partner;
}

void CausalOrder::queue_or_stall(std::uint32_t process) {
  Cursor& cursor = cursors_[process];
  if (cursor.ended) return;
  const std::uint32_t partner = waits_for(cursor.coming);
  if (partner == kNobody) {
    ready_.push(cursor.coming);
  } else {
    cursors_[partner].waiting.push_back(process);
    stalled_.push_back(cursor.coming);
  }
}

// Without this, the visit would end at a cycle, and every later step would be missing.
void CausalOrder::break_cycle() {
  if (stalled_.empty()) return;
  const Later later{direction_};
  const auto first = std::min_element(stalled_.begin(), stalled_.end(),
                                      [&](const Visit& a, const Visit& b) { return later(b, a); });
  const Visit freed = *first;
  stalled_.erase(first);
  for (Cursor& cursor : cursors_) std::erase(cursor.waiting, freed.process);
  ready_.push(freed);
}

}  // namespace fathom::analysis
