// SPDX-License-Identifier: BSD-3-Clause
#include "python/event_columns.h"

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

ColumnReader::ColumnReader(const trace::Trace& trace, std::size_t process,
                           const analysis::Scope& scope)
    : events_(trace, process, scope),
      process_(static_cast<std::uint32_t>(process)),
      functions_(static_cast<std::int32_t>(trace.definitions().functions.size())) {}

bool ColumnReader::next(Event& event) {
  ended_ = ended_ || !events_.next(event);
  if (!ended_) last_ns_ = event.time_ns;
  return !ended_;
}

ColumnReader::Stack& ColumnReader::open(std::uint32_t thread) {
  if (open_.size() <= thread) open_.resize(thread + 1);
  return open_[thread];
}

void ColumnReader::enter(const Event& event, std::int64_t row) {
  open(event.thread).push_back({event.function, event.time_ns, 0, row, event.site});
}

// Calls left(call, depth, named) for each call that the event ends, innermost first; the last is
// the one that it names.
template <typename Left>
void ColumnReader::leave(const Event& event, Left left) {
  Stack& stack = open(event.thread);
  for (std::size_t closed = analysis::CallStacks::closed_by(stack, event.function); closed > 0;
       --closed) {
    const Open call = stack.back();
    stack.pop_back();
    if (!stack.empty())
      stack.back().inside_ns += static_cast<double>(event.time_ns - call.enter_ns);
    left(call, stack.size(), closed == 1);
  }
}

void EventColumns::reserve(std::size_t rows) {
  for (auto* column : {&time_ns, &matching, &matching_time_ns, &parent, &bytes, &request})
    column->reserve(rows);
  for (auto* column : {&name, &process, &thread, &depth, &peer, &tag, &communicator, &root,
                       &message_class, &site}) {
    column->reserve(rows);
  }
  for (auto* column : {&inclusive_ns, &exclusive_ns}) column->reserve(rows);
  type.reserve(rows);
}

void ColumnReader::events(std::size_t most, std::int32_t process, EventColumns& columns) {
  site_numbers_.clear();
  for (Stack& stack : open_) {
    for (Open& call : stack) call.row = -1;
  }
  for (Event event; columns.size() < most && next(event);) add_event(event, process, columns);
}

void ColumnReader::add_event(const Event& event, std::int32_t process, EventColumns& columns) {
  const EventType type = type_of(event.kind);
  columns.time_ns.push_back(static_cast<std::int64_t>(event.time_ns));
  columns.type.push_back(static_cast<std::int8_t>(type));
  columns.name.push_back(type == EventType::kInstant
                             ? functions_ + static_cast<std::int32_t>(event.kind)
                             : static_cast<std::int32_t>(event.function));
  columns.process.push_back(process);
  columns.thread.push_back(static_cast<std::int32_t>(event.thread));
  columns.peer.push_back(event.peer);
  columns.tag.push_back(event.tag);
  columns.communicator.push_back(event.communicator);
  columns.root.push_back(event.root);
  columns.bytes.push_back(static_cast<std::int64_t>(event.bytes));
  columns.request.push_back(static_cast<std::int64_t>(event.request));
  columns.message_class.push_back(is_message(event.kind) ? static_cast<std::int32_t>(event.code)
                                                         : -1);
  columns.matching.push_back(-1);
  columns.matching_time_ns.push_back(-1);
  columns.parent.push_back(-1);
  columns.depth.push_back(-1);
  columns.inclusive_ns.push_back(kNothing);
  columns.exclusive_ns.push_back(kNothing);
  columns.site.push_back(event.kind == EventKind::kEnter ? number_of(event.site, columns.sites)
                                                         : -1);
  if (columns.with_positions) columns.position.push_back(events_.position());
  if (event.kind == EventKind::kEnter) enter_row(event, columns);
  if (event.kind == EventKind::kLeave) leave_row(event, columns);
}

std::int32_t ColumnReader::number_of(std::uint64_t address, std::vector<CallSite>& sites) {
  if (address == 0) return -1;
  const std::size_t before = site_numbers_.size();
  std::int32_t& number = site_numbers_[address];
  if (site_numbers_.size() > before) {
    number = static_cast<std::int32_t>(sites.size());
    sites.push_back({process_, address});
  }
  return number;
}

void ColumnReader::enter_row(const Event& event, EventColumns& columns) {
  const Stack& stack = open(event.thread);
  columns.depth.back() = static_cast<std::int32_t>(stack.size());
  columns.parent.back() = stack.empty() ? -1 : stack.back().row;
  enter(event, static_cast<std::int64_t>(columns.size()) - 1);
}

void ColumnReader::leave_row(const Event& event, EventColumns& columns) {
  leave(event, [&](const Open& call, std::size_t depth, bool named) {
    columns.depth.back() = static_cast<std::int32_t>(depth);
    if (!named || call.row < 0) return;
    const auto row = static_cast<std::size_t>(call.row);
    columns.matching[row] = static_cast<std::int64_t>(columns.size()) - 1;
    columns.matching.back() = call.row;
    columns.matching_time_ns[row] = static_cast<std::int64_t>(event.time_ns);
    columns.matching_time_ns.back() = static_cast<std::int64_t>(call.enter_ns);
    columns.inclusive_ns[row] = static_cast<double>(event.time_ns - call.enter_ns);
    columns.exclusive_ns[row] = columns.inclusive_ns[row] - call.inside_ns;
  });
}

void ColumnReader::add_call(const Open& call, std::uint32_t thread, std::size_t depth,
                            std::uint64_t leave_ns, CallColumns& columns) {
  columns.name.push_back(static_cast<std::int32_t>(call.function));
  columns.thread.push_back(static_cast<std::int32_t>(thread));
  columns.depth.push_back(static_cast<std::int32_t>(depth));
  columns.start_ns.push_back(static_cast<std::int64_t>(call.enter_ns));
  columns.end_ns.push_back(static_cast<std::int64_t>(leave_ns));
  columns.exclusive_ns.push_back(static_cast<double>(leave_ns - call.enter_ns) - call.inside_ns);
  columns.site.push_back(number_of(call.site, columns.sites));
}

bool ColumnReader::calls(std::size_t most, CallColumns& columns) {
  const bool more = !ended_;
  site_numbers_.clear();
  Event event;
  for (std::size_t read = 0; read < most && next(event); ++read) {
    if (event.kind == EventKind::kEnter) enter(event, -1);
    if (event.kind != EventKind::kLeave) continue;
    leave(event, [&](const Open& call, std::size_t depth, bool) {
      add_call(call, event.thread, depth, event.time_ns, columns);
    });
  }
  if (!ended_) return true;
  for (std::uint32_t thread = 0; thread < open_.size(); ++thread) {
    for (Stack& stack = open_[thread]; !stack.empty();) {
      Event end;
      end.thread = thread;
      end.function = stack.back().function;
      end.time_ns = last_ns_;
      leave(end, [&](const Open& call, std::size_t depth, bool) {
        add_call(call, thread, depth, last_ns_, columns);
      });
    }
  }
  return more;
}

}  // namespace fathom::python
