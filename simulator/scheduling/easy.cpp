// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/scheduling/easy.h"

#include <algorithm>
#include <vector>

namespace fathom::simulator {
namespace {

struct Shadow {
  double time_s = 0;
  std::uint64_t extra = 0;
};

// For the first job in the queue, which cannot start now. If it is bound it leaves no extra slots:
// a job started on them might get the hosts it needs.
Shadow shadow_of(const ScheduleView& view) {
  const QueuedJob& first = view.queue.front();
  const std::uint64_t needs = first.needs;
  std::vector<RunningJob> running(view.running.begin(), view.running.end());
  std::sort(running.begin(), running.end(), [](const RunningJob& left, const RunningJob& right) {
    return left.expected_end_s < right.expected_end_s;
  });
  Shadow shadow;
  std::uint64_t free = view.free_slots;
  for (const RunningJob& job : running) {
    if (free >= needs && job.expected_end_s > shadow.time_s)
      break;  // count all that end at the
              // same time
    free += job.takes;
    shadow.time_s = job.expected_end_s;
  }
  shadow.time_s = std::max(shadow.time_s, first.not_before_s);
  shadow.extra = free >= needs && !first.is_bound ? free - needs : 0;
  return shadow;
}

class Easy : public Scheduler {
 public:
  std::optional<std::size_t> next(const ScheduleView& view) override {
    if (view.queue.empty()) return std::nullopt;
    if (view.can_start(view.queue.front())) return 0;
    const Shadow shadow = shadow_of(view);
    for (std::size_t position = 1; position < view.queue.size(); ++position) {
      const QueuedJob& job = view.queue[position];
      const bool harmless =
          view.now_s + job.request_s <= shadow.time_s || job.takes <= shadow.extra;
      if (view.can_start(job) && harmless) return position;
    }
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Scheduler> make_easy() { return std::make_unique<Easy>(); }

}  // namespace fathom::simulator
