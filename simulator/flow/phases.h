// SPDX-License-Identifier: BSD-3-Clause
// Jobs as sequences of phases on one network. All messages of a phase's matrix start together; the
// phase ends when the last of them has arrived.
//
//     begin_0 = arrival,   start_p = begin_p + computation_p,
//     end_p = max over flows of phase p of their end,   begin_{p+1} = end_p
//
// All jobs share the links of one FlowModel; nothing else couples them. The slow-down of a job
// under contention is its duration together with the others over its duration alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "simulator/flow/flow_model.h"

namespace fathom::simulator {

struct PhaseFlow {
  std::span<const std::uint32_t> route;
  double size_bytes = 0;
};

struct Phase {
  double computation_s = 0;  // before anything is sent
  std::vector<PhaseFlow> flows;
};

struct PhasedJob {
  double arrival_s = 0;
  std::vector<Phase> phases;
};

struct PhaseTime {
  double start_s = 0;  // when its flows start
  double end_s = 0;
};

struct JobTime {
  std::vector<PhaseTime> phases;
  double end_s = 0;
  double duration_s = 0;  // since its arrival
};

// Jobs that may start at any time on one FlowModel, which the caller must not use meanwhile.
// Threading: one thread at a time. Memory: finished jobs keep only their times.
class PhasedJobs {
 public:
  explicit PhasedJobs(FlowModel& model) : model_(model) {}

  // Starts a job at job.arrival_s, which must not be before the last step(). The routes of its
  // flows must stay in memory until the job has ended. Returns the job's number, counted from 0. An
  // Error if a time is not a number of seconds.
  base::Result<std::size_t> start(PhasedJob job);

  // Time of the next event; FlowModel::kNever if no job is active.
  double next_event_s();

  // Advances to it. Returns the numbers of the jobs that ended, valid until the next call.
  base::Result<std::span<const std::size_t>> step();

  const JobTime& time(std::size_t job) const { return times_[job]; }

 private:
  struct Start {  // of a phase
    double at_s;
    std::size_t job;
    bool operator>(const Start& other) const { return at_s > other.at_s; }
  };

  base::Status check(std::size_t number, const PhasedJob& job) const;
  void begin_next_phase(std::size_t job, double at_s);
  base::Status start_due();
  void flow_ended(const EndedFlow& flow);

  FlowModel& model_;
  std::vector<PhasedJob> jobs_;
  std::vector<JobTime> times_;
  std::vector<std::size_t> pending_;  // flows of each job's current phase that have not ended
  std::vector<Start> starts_;         // heap of phases to come, earliest first
  std::vector<std::size_t> ended_;
};

// The times of each job. `model` must be fresh; usage kept by it covers all jobs.
base::Result<std::vector<JobTime>> run_together(FlowModel& model, std::span<const PhasedJob> jobs);

}  // namespace fathom::simulator
