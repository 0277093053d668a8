// SPDX-License-Identifier: BSD-3-Clause
// When waiting jobs start. How to add a scheduler: docs/adding-a-simulator-part.md.
//
// Hosts are a job's alone, and which ones it gets is the selector's business; schedulers reckon in
// slots. A job can start if it needs no more than are free; it then takes those of whole hosts,
// which may be more. Before it starts that is known as an upper limit only if hosts differ in
// slots. A job that must have certain hosts (its rank file names them) waits until these are free.
//
// The time that a job asked for is what schedulers reckon with, as in real systems. One that runs
// longer is taken to end just after now, again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace fathom::simulator {

struct QueuedJob {
  std::uint32_t job = 0;    // a number of its own
  std::uint64_t needs = 0;  // slots
  std::uint64_t takes = 0;  // slots, at most
  double request_s = 0;     // how long it asked for
  bool is_bound = false;    // to certain hosts, and then takes what it needs
  double not_before_s = 0;  // bound: when those are free if running jobs end as they asked
};

struct RunningJob {
  std::uint64_t takes = 0;    // slots
  double expected_end_s = 0;  // its start and what it asked for
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

// Belongs to one simulation and may remember what it promised. Threading: one thread at a time.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  // The position in the queue of a job that starts now, for which view.can_start() then holds; none
  // if there is none. Asked again after each start, and whenever a job arrives or ends.
  virtual std::optional<std::size_t> next(const ScheduleView& view) = 0;
};

// A row of the registry.
struct SchedulerRow {
  const char* name;  // as in a scenario's `scheduler: NAME`
  const char* help;  // one line
  std::unique_ptr<Scheduler> (*make)();
};

}  // namespace fathom::simulator
