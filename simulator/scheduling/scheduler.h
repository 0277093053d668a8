// SPDX-License-Identifier: BSD-3-Clause
// When waiting jobs start. How to add a scheduler: docs/adding-a-simulator-part.md.
//
// A job has its hosts to itself; the selector decides which ones it gets. Schedulers count only
// slots. A job can start if it needs no more slots than are free. It then takes all slots of its
// hosts, which may be more; if hosts differ in slots, only an upper limit of that is known before
// it starts. A job that must have certain hosts (its rank file names them) waits until these are
// free.
//
// Schedulers rely on the time that a job requested, as real systems do. A job that runs longer is
// assumed to end just after now, again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace fathom::simulator {

struct QueuedJob {
  std::uint32_t job = 0;    // the job's number
  std::uint64_t needs = 0;  // slots
  std::uint64_t takes = 0;  // slots, upper limit
  double request_s = 0;     // requested run time
  bool is_bound = false;    // must have certain hosts; takes exactly what it needs
  double not_before_s = 0;  // bound: when its hosts are free if running jobs end as requested
};

struct RunningJob {
  std::uint64_t takes = 0;    // slots
  double expected_end_s = 0;  // its start plus its requested time
};

struct ScheduleView {
  double now_s = 0;
  std::uint64_t free_slots = 0;
  std::span<const QueuedJob> queue;  // in order of arrival
  std::span<const RunningJob> running;

  bool can_start(const QueuedJob& job) const {
    return job.needs <= free_slots && job.not_before_s <= now_s;
  }
};

// Belongs to one simulation and may keep its promises as state. Threading: one thread at a time.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // The queue position of a job to start now, for which view.can_start() holds; none if there is no
  // such job. Called again after each start, and whenever a job arrives or ends.
  virtual std::optional<std::size_t> next(const ScheduleView& view) = 0;
};

// A row of the registry.
struct SchedulerRow {
  const char* name;  // as in a scenario's `scheduler: NAME`
  const char* help;  // one line
  std::unique_ptr<Scheduler> (*make)();
};

}  // namespace fathom::simulator
