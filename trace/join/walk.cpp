// SPDX-License-Identifier: BSD-3-Clause
#include "trace/join/walk.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "base/flat_map.h"
#include "trace/join/call_tracker.h"
#include "trace/join/merged_events.h"
#include "trace/join/partners.h"
#include "trace/meanings.h"

namespace fathom::trace {
namespace {

RequestKind kind_of(Group group) {
  switch (group) {
    case Group::kSend: return RequestKind::kSend;
    case Group::kReceive: return RequestKind::kReceive;
    case Group::kCollective: return RequestKind::kCollective;
    default: return RequestKind::kOther;
  }
}

// Gives both ends of a message the same number, and hands the earlier end to the later one. Only the
// ends whose partner is still to come are in memory, so a long trace costs no more than its busiest
// moment.
class Transfers {
 public:
  explicit Transfers(const Trace& trace) : partners_(trace) {}

  // Gives `end` its id; returns the other end if that has been seen.
  std::optional<MessageEnd> seen(MessageName name, MessageEnd& end) {
    const auto partner = partners_.of(name);
    if (const MessageEnd* other = partner ? waiting_.find(name.packed()) : nullptr) {
      const MessageEnd found = *other;
      waiting_.erase(name.packed());
      end.id = found.id;
      return found;
    }
    end.id = ++last_id_;
    if (partner) waiting_[partner->packed()] = end;
    return std::nullopt;
  }

  const Partners& partners() const { return partners_; }

 private:
  Partners partners_;
  base::FlatMap<std::uint64_t, MessageEnd> waiting_;  // by the name of the end still to come
  std::uint64_t last_id_ = 0;
};

class ProcessWalk : public CallTracker<ProcessWalk, Call, Request> {
 public:
  // `transfers` is nullptr if messages are not joined.
  ProcessWalk(const Definitions& definitions, const std::vector<mpi::Meaning>& meanings,
              std::size_t process, Visitor& visitor, Transfers* transfers)
      : CallTracker(definitions, meanings, true), visitor_(visitor), transfers_(transfers) {
    place_.process = process;
    place_.rank = static_cast<std::int32_t>(definitions.processes[process].rank);
  }

  void step(const Event& event) {
    place_.thread = event.thread;
    CallTracker::step(event);
  }

  void finish() {
    end_open_calls();
    std::vector<Tracked*> left;
    for_each_request([&left](Tracked& request) { left.push_back(&request); });
    std::sort(left.begin(), left.end(),
              [](const Tracked* a, const Tracked* b) { return a->order < b->order; });
    for (Tracked* request : left) {
      place_.thread = request->data.message.thread;
      request_dropped(*request);
    }
    visitor_.process_end(place_.process);
  }

 private:
  using Tracker = CallTracker<ProcessWalk, Call, trace::Request>;
  friend Tracker;
  using Tracked = Tracker::Request;

  void entered(OpenCall& call, const Event& event) {
    call.data.enter = event;
    call.data.leave.function = event.function;
    call.data.depth = call.depth;
    visitor_.enter(place_, call.data);
  }

  void left(OpenCall& call, const Event& leave) {
    if (call.cut) {
      call.data.cut = true;
      call.data.leave.time_ns = leave.time_ns;
    } else {
      call.data.leave = leave;
    }
    place_.thread = call.thread;
    visitor_.leave(place_, call.data);
  }

  MessageNumber new_message(const Event&, const OpenCall*) { return ++messages_; }

  void sent(const Event& event, MessageNumber number, const OpenCall* call, bool by_request) {
    const std::uint64_t posted_ns = call ? call->enter_ns : event.time_ns;
    show({event.communicator, place_.rank, event.peer, event.tag}, event, number, call, by_request,
         posted_ns);
  }

  void received(const Event& event, MessageNumber number, const OpenCall* call, Tracked* request,
                const Channels::Posted*) {
    std::uint64_t posted_ns = call && !request ? call->enter_ns : event.time_ns;
    if (request) {
      if (request->data.started_ns != 0) posted_ns = request->data.started_ns;
      request->data.message = event;
      request->data.has_message = true;
    }
    show({event.communicator, event.peer, place_.rank, event.tag}, event, number, call,
         request != nullptr, posted_ns);
  }

  void show(const MessageKey& key, const Event& event, MessageNumber number, const OpenCall* call,
            bool nonblocking, std::uint64_t posted_ns) {
    Message message;
    message.event = event;
    message.number = number;
    message.hidden = hidden(event.code);
    message.nonblocking = nonblocking;
    message.inside = call ? &call->data : nullptr;
    place_.thread = event.thread;
    MessageEnd end{0,         event.time_ns, event.bytes, posted_ns, place_.process, event.thread,
                   event.code};
    std::optional<MessageEnd> other;
    if (transfers_) {
      other = transfers_->seen({static_cast<std::uint32_t>(place_.process), number}, end);
    }
    message.id = end.id;
    visitor_.message(place_, message);
    if (!other) return;
    const bool sends = event.kind == EventKind::kMessageSent;
    visitor_.transfer({key, sends ? end : *other, sends ? *other : end});
  }

  // Partners has paired the messages already.
  Channels::Posted post(const Channels::Key&) { return {}; }
  void withdrawn(const Channels::Posted&) {}
  void never_received(const Channels::Posted&) {}
  void lost(const Event&) {}

  void request_made(Tracked& request, const OpenCall& call) {
    request.data.number = request.number;
    request.data.posted = call.data.enter;
    request.data.kind = kind_of(request.group);
    request.data.persistent = request.persistent;
  }

  void activated(Tracked& request, const OpenCall*) {
    request.data.cancelled = false;
    if (request.persistent) request.data.has_message = false;
  }

  void request_started(Tracked& request, std::uint64_t time_ns) {
    request.data.started_ns = time_ns;
    visitor_.request_started(place_, shown(request));
  }

  void request_dropped(Tracked& request) {
    if (request.data.has_message) visitor_.request_dropped(place_, shown(request), last_ns());
  }

  void complete_at_return(const OpenCall& call, const Event& leave) {
    if (call.sent == kNoMessage) return;
    trace::Request request;
    request.started_ns = leave.time_ns;
    request.posted = call.data.enter;
    request.kind = kind_of(meaning(call.function).group);
    request.sent = call.sent;
    visitor_.request_completed(place_, request, leave);
  }

  void given(const Tracked&, const Event&) {}

  void completed(const Event& event, Tracked* request, MessageNumber number, bool ends) {
    if (request == nullptr) return visitor_.other(place_, event);
    request->data.cancelled = event.flag == 1;
    trace::Request completed = shown(*request);
    if (!ends) completed.sent = number;
    visitor_.request_completed(place_, completed, event);
    if (ends && request->persistent) request->data.has_message = false;
  }

  void other(const Event& event) { visitor_.other(place_, event); }

  // For a receive, Tracked::message is the message it received, which must not appear as sent.
  static const trace::Request& shown(Tracked& request) {
    const bool sends = request.group != Group::kReceive && request.message != kNoMessage;
    request.data.sent = sends ? request.message : 0;
    request.data.active = request.active;
    return request.data;
  }

  Visitor& visitor_;
  Transfers* transfers_;
  Place place_;
  MessageNumber messages_ = 0;
};

}  // namespace

WalkSummary walk_process(const Trace& trace, std::size_t process, Visitor& visitor) {
  const std::vector<mpi::Meaning> meanings = trace::meanings(trace.definitions());
  ProcessWalk walk(trace.definitions(), meanings, process, visitor, nullptr);
  EventCursor cursor = trace.events(process);
  WalkSummary summary;
  for (Event event; cursor.next(event); ++summary.events) walk.step(event);
  walk.finish();
  summary.problems = cursor.problems();
  return summary;
}

WalkSummary walk_job(const Trace& trace, Visitor& visitor) {
  const Definitions& definitions = trace.definitions();
  const std::vector<mpi::Meaning> meanings = trace::meanings(definitions);
  Transfers transfers(trace);
  std::deque<ProcessWalk> walks;  // never move
  for (std::size_t process = 0; process < definitions.processes.size(); ++process) {
    walks.emplace_back(definitions, meanings, process, visitor, &transfers);
  }
  WalkSummary summary;
  merge_events(
      trace,
      [&](std::size_t process, const Event& event) {
        walks[process].step(event);
        ++summary.events;
      },
      [&](std::size_t process) { walks[process].finish(); }, summary.problems);
  summary.unmatched_sends = transfers.partners().unmatched_sends();
  summary.unmatched_receives = transfers.partners().unmatched_receives();
  return summary;
}

}  // namespace fathom::trace
