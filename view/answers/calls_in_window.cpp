// SPDX-License-Identifier: BSD-3-Clause
#include "view/answers/calls_in_window.h"

#include <algorithm>
#include <utility>

#include "analysis/calls/call_stack.h"

namespace fathom::view {
namespace {

using trace::Event;
using trace::EventKind;
using Stacks = std::vector<std::vector<SeenCall>>;  // by thread

SeenCall opened(const Event& event, std::size_t depth) {
  return {event.time_ns,  0,
          event.bytes,    event.thread,
          event.function, static_cast<std::uint32_t>(depth)};
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

CallsInWindow::CallsInWindow(const trace::Trace& trace) : trace_(trace) {
  const auto& processes = trace.definitions().processes;
  first_ns_ = ~std::uint64_t{0};
  for (const trace::Process& process : processes) {
    first_ns_ = std::min(first_ns_, process.first_ns);
    last_ns_ = std::max(last_ns_, process.last_ns);
  }
  first_ns_ = std::min(first_ns_, last_ns_);
  const std::uint64_t step_ns = (last_ns_ - first_ns_) / kMarks + 1;
  for (std::size_t process = 0; process < processes.size(); ++process) {
    std::vector<Mark> marks;
    Stacks open;
    std::uint64_t next_ns = first_ns_, end_ns = processes[process].last_ns;
    trace::EventCursor cursor = trace.events(process);
    for (Event event; cursor.next(event);) {
      for (; next_ns <= event.time_ns && marks.size() < kMarks; next_ns += step_ns)
        marks.push_back({next_ns, all_of(open)});
      end_ns = std::max(end_ns, event.time_ns);
      if (event.kind == EventKind::kEnter) {
        auto& stack = of_thread(open, event.thread);
        stack.push_back(opened(event, stack.size()));
      } else if (event.kind == EventKind::kLeave) {
        auto& stack = of_thread(open, event.thread);
        stack.resize(stack.size() - analysis::CallStacks::closed_by(stack, event.function));
      }
    }
    for (; marks.size() < kMarks; next_ns += step_ns) marks.push_back({next_ns, all_of(open)});
    marks_.push_back(std::move(marks));
    ends_ns_.push_back(end_ns);
  }
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
  cursor_.seek(mark.at_ns);
}

bool CallsInWindow::Walk::touches(const SeenCall& call) const {
  const std::uint64_t begin = std::max(call.enter_ns, from_ns_),
                      end = std::min(call.leave_ns, to_ns_);
  return end > begin || (call.enter_ns >= from_ns_ && call.enter_ns < to_ns_);
}

// Whether the event closes calls; `call` is the innermost, the outer ones follow from ready_.
bool CallsInWindow::Walk::take(const Event& event, SeenCall& call) {
  auto& stack = of_thread(open_, event.thread);
  if (event.kind == EventKind::kEnter) {
    stack.push_back(opened(event, stack.size()));
    return false;
  }
  if (event.kind != EventKind::kLeave) return false;
  for (std::size_t left = analysis::CallStacks::closed_by(stack, event.function); left > 0;
       --left) {
    stack.back().leave_ns = event.time_ns;
    if (touches(stack.back())) ready_.push_back(stack.back());
    stack.pop_back();
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
      call = stack.back();
      stack.pop_back();
      // What is left at the window's end goes on at least to there.
      call.leave_ns = std::max(call.enter_ns, at_end_ ? last_ns_ : to_ns_);
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
