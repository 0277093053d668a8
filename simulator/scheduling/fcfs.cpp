// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/scheduling/fcfs.h"

namespace fathom::simulator {
namespace {

class Fcfs : public Scheduler {
 public:
  std::optional<std::size_t> next(const ScheduleView& view) override {
    if (view.queue.empty() || !view.can_start(view.queue.front())) return std::nullopt;
    return 0;
  }
};

}  // namespace

std::unique_ptr<Scheduler> make_fcfs() { return std::make_unique<Fcfs>(); }

}  // namespace fathom::simulator
