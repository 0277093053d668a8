// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/call_wait.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fathom::analysis {

void CallWait::add(std::uint32_t number, const Step& step) {
  const bool is_given = step.kind == StepKind::kGiven;
  const std::uint32_t part =
      is_given || step.kind == StepKind::kProbe ? step.partner_step : completed_with(number, step);
  if (part == kNobody) return;
  const bool message = step.kind == StepKind::kSend || step.kind == StepKind::kReceive;
  if (message && is_internal(step)) return;
  if (step.kind == StepKind::kSend && step.has(kNotice)) return;  // nobody answers it
  if (job_->steps().at(process_, part).has(kJoined))
    (is_given ? given_ : completed_).push_back(part);
}

// What the part alone would make the call wait for; decided_ns is 0 if for nothing.
Wait CallWait::wait_for(std::uint32_t number) const {
  const StepFile& steps = job_->steps();
  const Step& call = steps.at(process_, call_);
  const Step& part = steps.at(process_, number);
  Wait one;
  one.part = number;
  one.culprit = part.partner;
  one.culprit_step = part.partner_step;
  one.decided_ns = part.end_ns;
  const bool found_only = part.time_ns > call.end_ns;  // by a probe, and received later
  if (part.kind == StepKind::kReceive && !found_only) {
    // The message's arrival ends the wait, whatever the other clock says.
    one.decided_ns = std::min(part.end_ns, part.time_ns);
  } else if (part.kind == StepKind::kSend) {
    one.kind = WaitKind::kLateReceiver;
  } else if (part.kind == StepKind::kCollective) {
    one.kind = mpi::wait_kind_of(job_->facts().meaning_of(part, steps.at(process_, part.call)));
    if (part.partner == process_) one.decided_ns = 0;
  }
  if (part.kind != StepKind::kCollective && part.has(kNeighbor)) one.kind = WaitKind::kNeighbours;
  if (part.kind == StepKind::kReceive && part.has(kNotice)) {
    one.kind = mpi::wait_kind_of(job_->facts().functions[call.number]);
  }
  if (part.partner == kNobody) {
    one.decided_ns = 0;
  } else if (one.decided_ns > call.end_ns + job_->uncertainty_ns(process_, part.partner)) {
    one.decided_ns = 0;  // the call had been left by then
  }
  return one;
}

Wait CallWait::wait() const {
  Wait best;
  const Step& call = job_->steps().at(process_, call_);
  const mpi::Meaning& facts = job_->facts().functions[call.number];
  if (facts.immediate || (facts.polls && !call.has(kPolled))) return best;
  bool found = false;
  for (const std::uint32_t number : completed_) {
    const Wait one = wait_for(number);
    const bool better = facts.waits_for_first() ? one.decided_ns < best.decided_ns
                                                : one.decided_ns > best.decided_ns;
    if (!found || better || (one.decided_ns == best.decided_ns && number < best.part)) best = one;
    found = true;
  }
  if (!found) return best;
  for (const std::uint32_t number : given_) {
    if (job_->steps().at(process_, number).end_ns > call.end_ns) continue;  // not in this call
    const Wait one = wait_for(number);
    if (one.decided_ns < best.decided_ns) best = one;
  }
  if (best.culprit == kNobody || best.decided_ns <= call.time_ns) return best;
  if (facts.polls) best.kind = WaitKind::kPolling;
  best.ns = std::min(best.decided_ns, call.end_ns) - call.time_ns;
  if (best.ns <= job_->uncertainty_ns(process_, best.culprit)) best.ns = 0;
  return best;
}

std::uint64_t CallWait::first_sent_ns() const {
  std::uint64_t sent_ns = kNever;
  for (const std::uint32_t number : completed_) {
    const Step& part = job_->steps().at(process_, number);
    if (part.kind == StepKind::kReceive) sent_ns = std::min(sent_ns, part.end_ns);
  }
  return sent_ns;
}

void OpenWaits::add(std::uint32_t number, const Step& step) {
  if (step.call == kNobody || step.kind == StepKind::kLost) return;
  auto open = std::find_if(open_.begin(), open_.end(),
                           [&](const CallWait& wait) { return wait.call() == step.call; });
  if (open == open_.end()) {
    if (spare_.empty()) {
      open_.emplace_back(*job_, process_, step.call);
    } else {
      open_.push_back(std::move(spare_.back()));
      spare_.pop_back();
      open_.back().restart(step.call);
    }
    open = std::prev(open_.end());
  }
  open->add(number, step);
}

const CallWait* OpenWaits::find(std::uint32_t call) const {
  const auto open = std::find_if(open_.begin(), open_.end(),
                                 [&](const CallWait& wait) { return wait.call() == call; });
  return open == open_.end() ? nullptr : &*open;
}

void OpenWaits::close(std::uint32_t call) {
  close_if([call](std::uint32_t one) { return one == call; }, [](const CallWait&) {});
}

}  // namespace fathom::analysis
