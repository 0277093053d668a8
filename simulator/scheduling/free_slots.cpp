// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/scheduling/free_slots.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::simulator {

FreeSlots::FreeSlots(const ScheduleView& view) {
  steps_.push_back({view.now_s, static_cast<std::int64_t>(view.free_slots)});
  // A job past its expected end counts as ending just after now.
  const double soon_s = std::nextafter(view.now_s, std::numeric_limits<double>::infinity());
  for (const RunningJob& job : view.running) {
    const std::size_t first = step_at(std::max(job.expected_end_s, soon_s));
    for (std::size_t step = first; step < steps_.size(); ++step) {
      steps_[step].free += static_cast<std::int64_t>(job.takes);
    }
  }
}

double FreeSlots::earliest(double from_s, double lasts_s, std::uint64_t slots) const {
  double start_s = std::max(from_s, steps_.front().since_s);
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    const bool last = step + 1 == steps_.size();
    const double end_s = last ? std::numeric_limits<double>::infinity() : steps_[step + 1].since_s;
    if (end_s <= start_s) continue;
    if (steps_[step].since_s >= start_s + lasts_s && steps_[step].since_s > start_s) break;
    if (steps_[step].free < static_cast<std::int64_t>(slots) && !last) start_s = end_s;
  }
  return start_s;
}

std::size_t FreeSlots::step_at(double time_s) {
  const auto after =
      std::upper_bound(steps_.begin(), steps_.end(), time_s,
                       [](double time, const Step& step) { return time < step.since_s; });
  const auto before = after - 1;
  const auto position = static_cast<std::size_t>(before - steps_.begin());
  if (before->since_s == time_s) return position;
  steps_.insert(after, {time_s, before->free});
  return position + 1;
}

void FreeSlots::change(double start_s, double lasts_s, std::int64_t slots) {
  if (!(lasts_s > 0)) return;
  const std::size_t first = step_at(start_s);
  const std::size_t end =
      std::isfinite(start_s + lasts_s) ? step_at(start_s + lasts_s) : steps_.size();
  for (std::size_t step = first; step < end; ++step) steps_[step].free += slots;
}

}  // namespace fathom::simulator
