// SPDX-License-Identifier: BSD-3-Clause
#include "python/scoped_events.h"

namespace fathom::python {

using trace::Event;
using trace::EventKind;

ScopedEvents::ScopedEvents(const trace::Trace& trace, std::size_t process,
                           const analysis::Scope& scope)
    : cursor_(trace.events(process)),
      scope_(scope),
      filter_(scope, trace.definitions()),
      all_(scope.whole_time() && !scope.phases) {}

// Also reads the events before the window, because calls open at its beginning belong to it.
bool ScopedEvents::next(Event& event) {
  if (all_) {
    ++position_;
    return cursor_.next(event);
  }
  for (Placed read; ready_.empty() && !ended_;) {
    ended_ = !cursor_.next(read);
    if (ended_) break;
    read.position = read_++;
    if (read.time_ns >= scope_.from_ns && !begun_) begin();
    if (read.time_ns >= scope_.to_ns) {
      end();
    } else if (follow(read) && begun_) {
      ready_.push_back(read);
    }
  }
  if (ready_.empty()) return false;
  event = ready_.front();
  position_ = ready_.front().position;
  ready_.pop_front();
  return true;
}

// Whether the event is in the chosen phase.
bool ScopedEvents::follow(const Placed& event) {
  if (open_.size() <= event.thread) open_.resize(event.thread + 1);
  if (event.kind == EventKind::kLeave) return leave(event);
  const bool before = filter_.phase(phases_.now());
  phases_.take(event);
  const bool wanted = event.kind == EventKind::kPhaseEnd ? before : filter_.phase(phases_.now());
  if (event.kind == EventKind::kEnter) open_[event.thread].push_back({event, wanted});
  return wanted;
}

bool ScopedEvents::leave(const Event& event) {
  std::vector<Open>& open = open_[event.thread];
  const std::size_t closed = analysis::CallStacks::closed_by(open, event.function);
  if (closed == 0) return filter_.phase(phases_.now());
  const std::size_t left = open.size() - closed;
  const bool wanted = open[left].wanted;
  open.resize(left);
  return wanted;
}

void ScopedEvents::begin() {
  begun_ = true;
  for (std::vector<Open>& calls : open_) {
    for (Open& call : calls) {
      call.time_ns = scope_.from_ns;
      if (call.wanted) ready_.push_back(call);
    }
  }
}

void ScopedEvents::end() {
  ended_ = true;
  for (const std::vector<Open>& calls : open_) {
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
      if (!call->wanted) continue;
      Event& leave = ready_.emplace_back();
      leave.kind = EventKind::kLeave;
      leave.time_ns = scope_.to_ns;
      leave.thread = call->thread;
      leave.function = call->function;
    }
  }
}

}  // namespace fathom::python
