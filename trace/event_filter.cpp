// SPDX-License-Identifier: BSD-3-Clause
#include "trace/event_filter.h"

#include <algorithm>
#include <utility>

namespace fathom::trace {
namespace {

constexpr std::pair<KindGroup, const char*> kKindGroups[] = {{KindGroup::kCalls, "calls"},
                                                             {KindGroup::kMessages, "messages"},
                                                             {KindGroup::kRequests, "requests"},
                                                             {KindGroup::kTransfers, "transfers"},
                                                             {KindGroup::kOthers, "others"}};

}  // namespace

std::optional<KindGroup> kind_group_named(std::string_view name) {
  for (const auto& [group, its_name] : kKindGroups) {
    if (name == its_name) return group;
  }
  return std::nullopt;
}

const char* name_of(KindGroup group) {
  for (const auto& [value, name] : kKindGroups) {
    if (value == group) return name;
  }
  return "";
}

KindGroup group_of(EventKind kind) {
  switch (kind) {
    case EventKind::kEnter:
    case EventKind::kLeave:
    case EventKind::kMemberGiven:
    case EventKind::kSampled: return KindGroup::kCalls;
    case EventKind::kMessageSent:
    case EventKind::kMessageReceived: return KindGroup::kMessages;
    case EventKind::kRequestGiven:
    case EventKind::kRequestCompleted: return KindGroup::kRequests;
    case EventKind::kTransfer:
    case EventKind::kUnexpected: return KindGroup::kTransfers;
    default: return KindGroup::kOthers;
  }
}

const char* name_of(EventKind kind) {
  switch (kind) {
    case EventKind::kEnter: return "enter";
    case EventKind::kLeave: return "leave";
    case EventKind::kMessageSent: return "sent";
    case EventKind::kMessageReceived: return "received";
    case EventKind::kRequestCompleted: return "completed";
    case EventKind::kTransfer: return "transfer";
    case EventKind::kUnexpected: return "unexpected";
    case EventKind::kPhaseBegin: return "phase-begin";
    case EventKind::kPhaseEnd: return "phase-end";
    case EventKind::kPause: return "pause";
    case EventKind::kResume: return "resume";
    case EventKind::kProcessor: return "processor";
    case EventKind::kLost: return "lost";
    case EventKind::kSampled: return "sampled";
    case EventKind::kRequestGiven: return "given";
    case EventKind::kMemberGiven: return "member";
  }
  return "";
}

bool EventFilter::wants_kind(EventKind kind) const {
  return selection_.kinds.empty() || selection_.kinds.contains(group_of(kind));
}

bool EventFilter::in_phase() const {
  if (selection_.phases.empty()) return true;
  const std::size_t outside = selection_.phases.size() - 1;
  const std::size_t now = open_phases_.empty() ? outside : open_phases_.back();
  return selection_.phases[std::min(now, outside)];
}

// Whether the event is in a chosen phase; the events that begin and end it are.
bool EventFilter::follow_phases(const Event& event) {
  if (event.kind == EventKind::kPhaseBegin) open_phases_.push_back(event.code);
  const bool inside = in_phase();
  if (event.kind == EventKind::kPhaseEnd) {
    const auto found = std::find(open_phases_.rbegin(), open_phases_.rend(), event.code);
    if (found != open_phases_.rend())
      open_phases_.erase(std::next(found).base(), open_phases_.end());
  }
  return inside;
}

bool EventFilter::admits_call(const Event& event, bool in_phase) {
  const bool wanted =
      in_phase && wants_kind(event.kind) &&
      (selection_.functions.empty() || selection_.functions.contains(event.function)) &&
      (selection_.communicators.empty() || event.communicator < 0 ||
       selection_.communicators.contains(event.communicator));
  if (event.kind == EventKind::kSampled) return wanted;
  std::vector<bool>& open = open_calls_[event.thread];
  if (event.kind == EventKind::kEnter) {
    // Decides for the leave too, so that enters and leaves stay balanced.
    open.push_back(wanted);
    return wanted;
  }
  if (open.empty()) return false;
  const bool entered = open.back();
  open.pop_back();
  return entered;
}

bool EventFilter::admits(const Event& event) {
  const bool inside = follow_phases(event);
  if (event.time_ns < selection_.from_ns || event.time_ns >= selection_.to_ns) return false;
  switch (event.kind) {
    case EventKind::kEnter:
    case EventKind::kLeave:
    case EventKind::kSampled: return admits_call(event, inside);
    case EventKind::kMemberGiven:
    case EventKind::kRequestGiven: {
      const std::vector<bool>& open = open_calls_[event.thread];
      return inside && wants_kind(event.kind) && !open.empty() &&
             (open.back() || !wants_kind(EventKind::kEnter));
    }
    case EventKind::kLost:
    case EventKind::kPause:
    case EventKind::kResume: return true;
    default:
      return inside && wants_kind(event.kind) &&
             (selection_.communicators.empty() || event.communicator < 0 ||
              selection_.communicators.contains(event.communicator));
  }
}

}  // namespace fathom::trace
