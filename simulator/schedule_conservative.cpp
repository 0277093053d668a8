#include "simulator/schedule_conservative.h"

#include <algorithm>
#include <limits>
#include <map>

#include "simulator/free_slots.h"

namespace fathom::simulator {
namespace {

class Conservative : public Scheduler {
 public:
  std::optional<std::size_t> next(const ScheduleView& view) override {
    FreeSlots free(view);
    std::map<std::uint32_t, double> kept = keep(view, free);
    reservations_.clear();
    std::optional<std::size_t> starts;
    double end_by_s = std::numeric_limits<double>::infinity();
    for (std::size_t position = 0; position < view.queue.size(); ++position) {
      const QueuedJob& job = view.queue[position];
      if (const auto old = kept.find(job.job); old != kept.end()) {
        free.give_back(old->second, job.request_s, job.takes);
      }
      const double start_s = free.earliest(std::max(view.now_s, job.not_before_s), job.request_s, job.takes);
      free.take(start_s, job.request_s, job.takes);
      reservations_[job.job] = start_s;
      const bool harmless = view.now_s + job.request_s <= end_by_s;
      if (!starts && start_s <= view.now_s && harmless && view.can_start(job)) {
        starts = position;
      } else if (job.is_bound) {  // who comes later might be given its hosts, and must be gone by then
        end_by_s = std::min(end_by_s, start_s);
      }
    }
    return starts;
  }

 private:
  // Reservations that still hold are taken before anything moves.
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

  std::map<std::uint32_t, double> reservations_;  // by job: when it starts at the latest
};

}  // namespace

std::unique_ptr<Scheduler> make_conservative() { return std::make_unique<Conservative>(); }

}  // namespace fathom::simulator
