// SPDX-License-Identifier: BSD-3-Clause
// Selects events of a process by time, function, kind, communicator and phase.
//
// Feed it the events of one process in order: it admits the enter and the leave of a call together,
// with the requests that the call was given. A leave whose enter lies before the time range is
// dropped. Phases are known only if all events since the first are fed: with phases, the caller may
// not seek to from_ns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event.h"

namespace fathom::trace {

// Groups of kinds, by the names that users give.
enum class KindGroup : std::uint8_t { kCalls, kMessages, kRequests, kTransfers, kOthers };

std::optional<KindGroup> kind_group_named(std::string_view name);
const char* name_of(KindGroup group);
KindGroup group_of(EventKind kind);
const char* name_of(EventKind kind);

struct EventSelection {
  std::uint64_t from_ns = 0, to_ns = ~std::uint64_t{0};  // to_ns is excluded
  std::set<std::uint32_t> functions;                     // empty: all
  std::set<KindGroup> kinds;             // empty: all. Losses and pauses are always admitted.
  std::set<std::int32_t> communicators;  // empty: all; events without a communicator are admitted
  std::vector<bool> phases;              // by number, and last what is outside of all; empty: all
};

class EventFilter {
 public:
  explicit EventFilter(const EventSelection& selection) : selection_(selection) {}
  bool admits(const Event& event);

 private:
  bool wants_kind(EventKind kind) const;
  bool admits_call(const Event& event, bool in_phase);
  bool in_phase() const;
  bool follow_phases(const Event& event);

  const EventSelection& selection_;
  std::map<std::uint32_t, std::vector<bool>> open_calls_;  // by thread, outermost first: admitted?
  std::vector<std::uint32_t> open_phases_;                 // outermost first
};

}  // namespace fathom::trace
