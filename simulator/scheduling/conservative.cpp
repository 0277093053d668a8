// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/scheduling/conservative.h"

#include <algorithm>
#include <map>
#include <vector>

#include "simulator/scheduling/free_slots.h"

namespace fathom::simulator {
namespace {

class Conservative : public Scheduler {
 public:
  std::optional<std::size_t> next(const ScheduleView& view) override {
    FreeSlots free(view);
    const std::map<std::uint32_t, double> kept = keep(view, free);
    reservations_.clear();
    bound_starts_.clear();
    std::optional<std::size_t> starts;
    for (std::size_t position = 0; position < view.queue.size(); ++position) {
      const QueuedJob& job = view.queue[position];
      const auto old = kept.find(job.job);
      if (old != kept.end()) free.give_back(old->second, job.request_s, job.takes);
      const double start_s = start_of(view, job, free, old == kept.end() ? nullptr : &old->second);
      free.take(start_s, job.request_s, job.takes);
      reservations_[job.job] = start_s;
      if (!starts && start_s <= view.now_s && view.can_start(job)) {
        starts = position;
      } else if (job.is_bound) {
        bound_starts_.push_back(start_s);
      }
    }
    return starts;
  }

 private:
  // The earliest fit that does not span the start of an earlier bound job, because the job might
  // get that one's hosts. A start already promised still holds. On an empty cluster only a start
  // advances time, so promised jobs take the earliest fit there.
  double start_of(const ScheduleView& view, const QueuedJob& job, const FreeSlots& free,
                  const double* promised_s) const {
    const double start_s =
        free.earliest(std::max(view.now_s, job.not_before_s), job.request_s, job.takes);
    if (promised_s == nullptr) return clear_of_bound(start_s, job, free);
    return view.running.empty() ? start_s
                                : std::min(clear_of_bound(start_s, job, free), *promised_s);
  }

  double clear_of_bound(double start_s, const QueuedJob& job, const FreeSlots& free) const {
    for (;;) {
      const auto crossed = std::find_if(
          bound_starts_.begin(), bound_starts_.end(),
          [&](double bound_s) { return start_s < bound_s && bound_s < start_s + job.request_s; });
      if (crossed == bound_starts_.end()) return start_s;
      start_s = free.earliest(*crossed, job.request_s, job.takes);
    }
  }

  // Takes the reservations that still hold before any job moves.
  std::map<std::uint32_t, double> keep(const ScheduleView& view, FreeSlots& free) const {
    std::map<std::uint32_t, double> kept;
    for (const QueuedJob& job : view.queue) {
      const auto old = reservations_.find(job.job);
      if (old == reservations_.end() || old->second < std::max(view.now_s, job.not_before_s) ||
          !free.fits(old->second, job.request_s, job.takes)) {
        continue;
      }
      free.take(old->second, job.request_s, job.takes);
      kept.insert(*old);
    }
    return kept;
  }

  std::map<std::uint32_t, double> reservations_;  // by job: its latest start
  std::vector<double> bound_starts_;              // of bound jobs seen in the queue so far
};

}  // namespace

std::unique_ptr<Scheduler> make_conservative() { return std::make_unique<Conservative>(); }

}  // namespace fathom::simulator
