// SPDX-License-Identifier: BSD-3-Clause
// Free slots over the time to come: a step function that jobs are fitted into.
//
// Threading: one thread at a time. Cost: O(steps) a call; a reservation adds two steps at most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/scheduling/scheduler.h"

namespace fathom::simulator {

class FreeSlots {
 public:
  // As the running jobs leave it when each ends as it asked.
  explicit FreeSlots(const ScheduleView& view);

  // The earliest time, not before `from_s`, at which `slots` are free for `lasts_s`. There is one,
  // for all running jobs end: slots must not be more than there are.
  double earliest(double from_s, double lasts_s, std::uint64_t slots) const;
  bool fits(double start_s, double lasts_s, std::uint64_t slots) const {
    return earliest(start_s, lasts_s, slots) == start_s;
  }
  void take(double start_s, double lasts_s, std::uint64_t slots) {
    change(start_s, lasts_s, -static_cast<std::int64_t>(slots));
  }
  void give_back(double start_s, double lasts_s, std::uint64_t slots) {
    change(start_s, lasts_s, static_cast<std::int64_t>(slots));
  }

 private:
  struct Step {
    double since_s;
    std::int64_t free;
  };
  std::size_t step_at(double time_s);  // makes one begin there
  void change(double start_s, double lasts_s, std::int64_t slots);

  std::vector<Step> steps_;  // ascending; the last lasts for ever
};

}  // namespace fathom::simulator
