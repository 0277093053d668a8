// SPDX-License-Identifier: BSD-3-Clause
#include "view/answers/calls_in_window.h"

#include <algorithm>
#include <utility>

#include "base/process/parallel.h"

namespace fathom::view {
namespace {

using trace::Event;
using trace::EventKind;
using Stacks = std::vector<std::vector<SeenCall>>;  // by thread

SeenCall opened(const Event& event, std::size_t depth, std::uint32_t phase) {
  SeenCall call;
  call.enter_ns = event.time_ns;
  call.bytes = event.bytes;
  call.site = event.site;
  call.thread = event.thread;
  call.function = event.function;
  call.depth = static_cast<std::uint32_t>(depth);
  call.phase = phase;
  return call;
}

std::vector<SeenCall>& of_thread(Stacks& stacks, std::uint32_t thread) {
  if (thread >= stacks.size()) stacks.resize(thread + 1);
  return stacks[thread];
}

std::vector<SeenCall> all_of(const Stacks& stacks) {
  std::vector<SeenCall> all;
  for (const auto& stack : stacks) all.insert(all.end(), stack.begin(), stack.end());
  return all;
}

}  // namespace

CallsInWindow::CallsInWindow(const trace::Trace& trace)
    : trace_(trace),
      marks_(trace.definitions().processes.size()),
      ends_ns_(trace.definitions().processes.size()) {
  first_ns_ = ~std::uint64_t{0};
  for (const trace::Process& process : trace.definitions().processes) {
    first_ns_ = std::min(first_ns_, process.first_ns);
    last_ns_ = std::max(last_ns_, process.last_ns);
  }
  first_ns_ = std::min(first_ns_, last_ns_);
  base::in_parallel(marks_.size(), [this](std::size_t process) { mark_process(process); });
}

void CallsInWindow::mark_process(std::size_t process) {
  const trace::Process& facts = trace_.definitions().processes[process];
  const std::size_t count =
      std::clamp<std::uint64_t>(facts.records / kEventsPerMark, 1, kMostMarks);
  const std::uint64_t step_ns = (last_ns_ - first_ns_) / count + 1;
  std::vector<Mark>& marks = marks_[process];
  Stacks open;
  analysis::PhaseStack phases;
  std::uint64_t next_ns = first_ns_, end_ns = facts.last_ns;
  trace::EventCursor cursor = trace_.events(process);
  for (Event event; cursor.next(event);) {
    for (; next_ns <= event.time_ns && marks.size() < count; next_ns += step_ns)
      marks.push_back({next_ns, all_of(open), phases});
    end_ns = std::max(end_ns, event.time_ns);
    if (event.kind == EventKind::kEnter) {
      auto& stack = of_thread(open, event.thread);
      stack.push_back(opened(event, stack.size(), phases.now()));
    } else if (event.kind == EventKind::kLeave) {
      auto& stack = of_thread(open, event.thread);
      stack.resize(stack.size() - analysis::CallStacks::closed_by(stack, event.function));
    } else {
      phases.take(event);
    }
  }
  for (; marks.size() < count; next_ns += step_ns) marks.push_back({next_ns, all_of(open), phases});
  ends_ns_[process] = end_ns;
}

CallsInWindow::Walk::Walk(const CallsInWindow& calls, std::size_t process, std::uint64_t from_ns,
                          std::uint64_t to_ns)
    : from_ns_(from_ns),
      to_ns_(to_ns),
      last_ns_(calls.ends_ns_[process]),
      cursor_(calls.trace_.events(process)) {
  const auto& marks = calls.marks_[process];
  const auto after = std::upper_bound(
      marks.begin(), marks.end(), from_ns,
      [](std::uint64_t time_ns, const Mark& mark) { return time_ns < mark.at_ns; });
  if (after == marks.begin()) return;  // before the first event
  const Mark& mark = *std::prev(after);
  for (const SeenCall& call : mark.open) of_thread(open_, call.thread).push_back(call);
  phases_ = mark.phases;
  cursor_.seek(mark.at_ns);
}

bool CallsInWindow::Walk::touches(const SeenCall& call) const {
  const std::uint64_t begin = std::max(call.enter_ns, from_ns_),
                      end = std::min(call.leave_ns, to_ns_);
  return end > begin || (call.enter_ns >= from_ns_ && call.enter_ns < to_ns_);
}

// Ends the innermost call of a thread, and gives it.
void CallsInWindow::Walk::close_innermost(std::vector<SeenCall>& stack, std::uint64_t leave_ns,
                                          SeenCall& call) const {
  call = stack.back();
  stack.pop_back();
  call.leave_ns = leave_ns;
  const std::uint64_t begin = std::max(call.enter_ns, from_ns_),
                      end = std::min(call.leave_ns, to_ns_);
  if (!stack.empty() && end > begin) stack.back().nested_ns += end - begin;
}

// Whether the event closes calls; `call` is the innermost, the outer ones follow from ready_.
bool CallsInWindow::Walk::take(const Event& event, SeenCall& call) {
  auto& stack = of_thread(open_, event.thread);
  if (event.kind == EventKind::kEnter) {
    stack.push_back(opened(event, stack.size(), phases_.now()));
    return false;
  }
  phases_.take(event);
  if (event.kind != EventKind::kLeave) return false;
  SeenCall closed;
  for (std::size_t left = analysis::CallStacks::closed_by(stack, event.function); left > 0;
       --left) {
    close_innermost(stack, event.time_ns, closed);
    if (touches(closed)) ready_.push_back(closed);
  }
  std::reverse(ready_.begin(), ready_.end());
  if (ready_.empty()) return false;
  call = ready_.back();
  ready_.pop_back();
  return true;
}

bool CallsInWindow::Walk::close_rest(SeenCall& call) {
  for (auto& stack : open_) {
    while (!stack.empty()) {
      // What is left at the window's end goes on at least to there.
      close_innermost(stack, std::max(stack.back().enter_ns, at_end_ ? last_ns_ : to_ns_), call);
      if (touches(call)) return true;
    }
  }
  return false;
}

bool CallsInWindow::Walk::next(SeenCall& call) {
  if (!ready_.empty()) {
    call = ready_.back();
    ready_.pop_back();
    return true;
  }
  for (Event event; !at_end_;) {
    if (!cursor_.next(event)) {
      at_end_ = true;
    } else if (event.time_ns >= to_ns_) {
      break;
    } else if (take(event, call)) {
      return true;
    }
  }
  return close_rest(call);
}

}  // namespace fathom::view
