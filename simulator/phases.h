// Jobs as sequences of phases on one network: what a phase's matrix sends starts together, and the
// phase ends when the last of it has arrived.
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
#include "simulator/flow_model.h"

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

// The times of each job. `model` must be fresh; usage kept by it covers all jobs.
base::Result<std::vector<JobTime>> run_together(FlowModel& model, std::span<const PhasedJob> jobs);

// duration_s of each job together with the others over its duration when it has the network for
// itself; 1 for a job that takes no time.
base::Result<std::vector<double>> slow_downs(const std::vector<LinkSpeed>& links,
                                             std::span<const PhasedJob> jobs);

}  // namespace fathom::simulator
