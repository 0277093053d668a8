// SPDX-License-Identifier: BSD-3-Clause
// Free slots over future time: a step function that jobs are fitted into.
//
// Threading: one thread at a time. Cost: O(steps) per call; a reservation adds at most two steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/scheduling/scheduler.h"

namespace fathom::simulator {

class FreeSlots {
 public:
  // The slots left by the running jobs if each ends as requested.
  explicit FreeSlots(const ScheduleView& view);

  // The earliest time, not before `from_s`, at which `slots` are free for `lasts_s`. It exists
  // because all running jobs end, provided that `slots` does not exceed the total.
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
  std::size_t step_at(double time_s);  // inserts a step there
  void change(double start_s, double lasts_s, std::int64_t slots);

  std::vector<Step> steps_;  // ascending; the last has no end
};

}  // namespace fathom::simulator
