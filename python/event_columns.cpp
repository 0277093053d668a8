#include "python/event_columns.h"

#include <algorithm>
#include <limits>

namespace fathom::python {
namespace {

using trace::Event;
using trace::EventKind;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

EventType type_of(EventKind kind) {
  if (kind == EventKind::kEnter) return EventType::kEnter;
  return kind == EventKind::kLeave ? EventType::kLeave : EventType::kInstant;
}

bool is_message(EventKind kind) {
  return kind == EventKind::kMessageSent || kind == EventKind::kMessageReceived;
}

}  // namespace

ColumnReader::ColumnReader(const trace::Trace& trace, std::size_t process, const analysis::Scope& scope)
    : cursor_(trace.events(process)),
      scope_(scope),
      functions_(static_cast<std::int32_t>(trace.definitions().functions.size())) {}

// Events before the window are read too: calls that are open when it begins belong to it.
bool ColumnReader::next(Event& event) {
  if (ended_ || !cursor_.next(event) || event.time_ns >= scope_.to_ns) {
    ended_ = true;
    return false;
  }
  last_ns_ = event.time_ns;
  return true;
}

double ColumnReader::clipped(std::uint64_t from_ns, std::uint64_t to_ns) const {
  const std::uint64_t from = std::max(from_ns, scope_.from_ns), to = std::min(to_ns, scope_.to_ns);
  return to > from ? static_cast<double>(to - from) : 0;
}

void EventColumns::reserve(std::size_t rows) {
  for (auto* column : {&time_ns, &matching, &matching_time_ns, &parent, &bytes, &request}) column->reserve(rows);
  for (auto* column : {&name, &process, &thread, &depth, &peer, &tag, &communicator, &root, &message_class}) {
    column->reserve(rows);
  }
  for (auto* column : {&inclusive_ns, &exclusive_ns}) column->reserve(rows);
  type.reserve(rows);
}

void ColumnReader::events(std::size_t most, std::int32_t process, EventColumns& columns) {
  for (auto& [thread, stack] : open_) {
    for (Open& call : stack) call.row = -1;
  }
  for (Event event; columns.size() < most && next(event);) add_event(event, process, columns);
}

void ColumnReader::add_event(const Event& event, std::int32_t process, EventColumns& columns) {
  const bool wanted = in_window(event.time_ns);
  if (wanted) {
    const EventType type = type_of(event.kind);
    columns.time_ns.push_back(static_cast<std::int64_t>(event.time_ns));
    columns.type.push_back(static_cast<std::int8_t>(type));
    columns.name.push_back(type == EventType::kInstant ? functions_ + static_cast<std::int32_t>(event.kind)
                                                       : static_cast<std::int32_t>(event.function));
    columns.process.push_back(process);
    columns.thread.push_back(static_cast<std::int32_t>(event.thread));
    columns.peer.push_back(event.peer);
    columns.tag.push_back(event.tag);
    columns.communicator.push_back(event.communicator);
    columns.root.push_back(event.root);
    columns.bytes.push_back(static_cast<std::int64_t>(event.bytes));
    columns.request.push_back(static_cast<std::int64_t>(event.request));
    columns.message_class.push_back(is_message(event.kind) ? static_cast<std::int32_t>(event.code) : -1);
    columns.matching.push_back(-1);
    columns.matching_time_ns.push_back(-1);
    columns.parent.push_back(-1);
    columns.depth.push_back(-1);
    columns.inclusive_ns.push_back(kNothing);
    columns.exclusive_ns.push_back(kNothing);
  }
  if (event.kind == EventKind::kEnter) enter_row(event, columns);
  if (event.kind == EventKind::kLeave) leave_row(event, columns);
}

void ColumnReader::enter_row(const Event& event, EventColumns& columns) {
  Stack& stack = open_[event.thread];
  const bool wanted = in_window(event.time_ns);
  const std::int64_t row = wanted ? static_cast<std::int64_t>(columns.size()) - 1 : -1;
  if (wanted) {
    columns.depth.back() = static_cast<std::int32_t>(stack.size());
    columns.parent.back() = stack.empty() ? -1 : stack.back().row;
  }
  stack.push_back({static_cast<std::int32_t>(event.function), event.time_ns, event.time_ns, 0, row});
}

void ColumnReader::leave_row(const Event& event, EventColumns& columns) {
  Stack& stack = open_[event.thread];
  if (stack.empty()) return;
  const Open call = stack.back();
  stack.pop_back();
  const double inclusive = clipped(call.enter_ns, event.time_ns);
  if (!stack.empty()) stack.back().inside_ns += inclusive;
  if (!in_window(event.time_ns)) return;
  columns.depth.back() = static_cast<std::int32_t>(stack.size());
  if (call.row < 0) return;
  const auto row = static_cast<std::size_t>(call.row);
  const auto here = static_cast<std::int64_t>(columns.size()) - 1;
  columns.matching[row] = here;
  columns.matching.back() = call.row;
  columns.matching_time_ns[row] = static_cast<std::int64_t>(event.time_ns);
  columns.matching_time_ns.back() = static_cast<std::int64_t>(call.enter_ns);
  columns.inclusive_ns[row] = inclusive;
  columns.exclusive_ns[row] = inclusive - call.inside_ns;
}

// Keeps the stacks; left(call, thread, depth, time) is told of each call that ends.
template <typename Left>
void ColumnReader::follow(const Event& event, Left left) {
  Stack& stack = open_[event.thread];
  if (event.kind == EventKind::kEnter) {
    stack.push_back({static_cast<std::int32_t>(event.function), event.time_ns, event.time_ns, 0, -1});
  } else if (event.kind == EventKind::kLeave && !stack.empty()) {
    const Open call = stack.back();
    stack.pop_back();
    if (!stack.empty()) {
      stack.back().inside_ns += clipped(call.enter_ns, event.time_ns);
      stack.back().top_since_ns = event.time_ns;
    }
    left(call, event.thread, stack.size(), event.time_ns);
  }
}

void ColumnReader::add_call(const Open& call, std::uint32_t thread, std::size_t depth, std::uint64_t leave_ns,
                            CallColumns& columns) const {
  if (leave_ns < scope_.from_ns) return;
  columns.name.push_back(call.name);
  columns.thread.push_back(static_cast<std::int32_t>(thread));
  columns.depth.push_back(static_cast<std::int32_t>(depth));
  columns.start_ns.push_back(static_cast<std::int64_t>(std::max(call.enter_ns, scope_.from_ns)));
  columns.end_ns.push_back(static_cast<std::int64_t>(std::min(leave_ns, scope_.to_ns)));
  columns.exclusive_ns.push_back(clipped(call.enter_ns, leave_ns) - call.inside_ns);
}

bool ColumnReader::calls(std::size_t most, CallColumns& columns) {
  const bool more = !ended_;
  Event event;
  for (std::size_t read = 0; read < most && next(event); ++read) {
    follow(event, [&](const Open& call, std::uint32_t thread, std::size_t depth, std::uint64_t leave_ns) {
      add_call(call, thread, depth, leave_ns, columns);
    });
  }
  if (!ended_) return true;
  // Still open at the end of the window or of the trace: up to there.
  const std::uint64_t end = std::min(std::max(last_ns_, scope_.from_ns), scope_.to_ns);
  const std::uint64_t cut = scope_.to_ns == analysis::Scope{}.to_ns ? end : scope_.to_ns;
  for (auto& [thread, stack] : open_) {
    while (!stack.empty()) {
      const Open call = stack.back();
      stack.pop_back();
      if (!stack.empty()) stack.back().inside_ns += clipped(call.enter_ns, cut);
      add_call(call, thread, stack.size(), cut, columns);
    }
  }
  return more;
}

void ColumnReader::add_segment(const Open& call, std::uint64_t end_ns, SegmentColumns& columns) const {
  if (clipped(call.top_since_ns, end_ns) == 0) return;
  columns.name.push_back(call.name);
  columns.start_ns.push_back(static_cast<std::int64_t>(std::max(call.top_since_ns, scope_.from_ns)));
  columns.end_ns.push_back(static_cast<std::int64_t>(std::min(end_ns, scope_.to_ns)));
}

bool ColumnReader::segments(std::size_t most, SegmentColumns& columns) {
  const bool more = !ended_;
  Event event;
  for (std::size_t read = 0; read < most && next(event); ++read) {
    Stack& stack = open_[event.thread];
    if (event.kind == EventKind::kEnter && !stack.empty()) add_segment(stack.back(), event.time_ns, columns);
    follow(event, [&](const Open& call, std::uint32_t, std::size_t, std::uint64_t leave_ns) {
      add_segment(call, leave_ns, columns);
    });
  }
  if (!ended_) return true;
  const std::uint64_t cut = scope_.to_ns == analysis::Scope{}.to_ns ? last_ns_ : scope_.to_ns;
  for (auto& [thread, stack] : open_) {
    if (!stack.empty()) add_segment(stack.back(), cut, columns);
    stack.clear();
  }
  return more;
}

}  // namespace fathom::python
