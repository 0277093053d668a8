// SPDX-License-Identifier: BSD-3-Clause
// The events of all processes of a trace, merged by time. Ties: lower process first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "trace/definitions.h"
#include "trace/event.h"
#include "trace/reader.h"

namespace fathom::trace {

// Calls step(process, event) for each event, and ended(process) after the last event of a process.
// Damaged frames are left out; a sentence about each is added to `problems`. Cost: O(log processes)
// for each event, on top of reading it.
template <typename Step, typename Ended>
void merge_events(const Trace& trace, Step step, Ended ended, std::vector<std::string>& problems) {
  struct Lane {
    EventCursor cursor;
    Event event;
  };
  using Next = std::pair<std::uint64_t, std::size_t>;  // time, process
  std::vector<Lane> lanes;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  const std::size_t processes = trace.definitions().processes.size();
  lanes.reserve(processes);
  for (std::size_t process = 0; process < processes; ++process) {
    Lane& lane = lanes.emplace_back(Lane{trace.events(process), Event{}});
    if (lane.cursor.next(lane.event)) {
      next.emplace(lane.event.time_ns, process);
    } else {
      ended(process);
    }
  }
  while (!next.empty()) {
    const std::size_t here = next.top().second;
    next.pop();
    Lane& lane = lanes[here];
    bool more = true;
    do {
      step(here, lane.event);
      more = lane.cursor.next(lane.event);
    } while (more && (next.empty() || Next{lane.event.time_ns, here} < next.top()));
    if (more) {
      next.emplace(lane.event.time_ns, here);
    } else {
      ended(here);
    }
  }
  for (const Lane& lane : lanes) {
    problems.insert(problems.end(), lane.cursor.problems().begin(), lane.cursor.problems().end());
  }
}

}  // namespace fathom::trace
