// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/path/chosen_time.h"

#include <algorithm>

#include "analysis/calls/call_stack.h"

namespace fathom::analysis {

ChosenTime::ChosenTime(const JoinedJob& job, const Scope& scope)
    : filter_(scope, job.definitions()),
      whole_(scope.whole_time() && !scope.ranks && !scope.phases),
      by_phase_(scope.phases.has_value()),
      phases_(job.definitions().processes.size()) {
  if (!by_phase_) return;
  for (const std::uint32_t process : job.own()) {
    if (!filter_.process(process)) continue;
    std::vector<Interval>& found = phases_[process];
    PhaseStack phases;
    std::uint64_t since_ns = 0;
    const auto until = [&](std::uint64_t time_ns) {
      if (filter_.phase(phases.now()) && time_ns > since_ns) found.push_back({since_ns, time_ns});
      since_ns = time_ns;
    };
    trace::EventCursor cursor = job.trace().events(process);
    for (trace::Event event; cursor.next(event);) {
      if (event.kind != trace::EventKind::kPhaseBegin && event.kind != trace::EventKind::kPhaseEnd)
        continue;
      until(event.time_ns);
      phases.take(event);
    }
    until(~std::uint64_t{0});
  }
}

std::uint64_t ChosenTime::inside_ns(std::uint32_t process, std::uint64_t from_ns,
                                    std::uint64_t to_ns) const {
  if (to_ns <= from_ns || !filter_.process(process)) return 0;
  if (!by_phase_) return filter_.inside_ns(from_ns, to_ns);
  const std::vector<Interval>& phases = phases_[process];
  auto at = std::upper_bound(
      phases.begin(), phases.end(), from_ns,
      [](std::uint64_t time_ns, const Interval& phase) { return time_ns < phase.to_ns; });
  std::uint64_t inside_ns = 0;
  for (; at != phases.end() && at->from_ns < to_ns; ++at)
    inside_ns += filter_.inside_ns(std::max(from_ns, at->from_ns), std::min(to_ns, at->to_ns));
  return inside_ns;
}

}  // namespace fathom::analysis
