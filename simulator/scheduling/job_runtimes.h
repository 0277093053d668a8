// SPDX-License-Identifier: BSD-3-Clause
// How long started jobs run: for a given duration (fixed), or until their messages have arrived on
// the shared network (flows).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "simulator/flow/flow_model.h"
#include "simulator/jobs/job.h"
#include "simulator/placement/placement.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

struct StartedJob {
  std::uint32_t number = 0;  // the caller's
  const Job* job = nullptr;
  const Placement* placement = nullptr;
  double start_s = 0;
  double duration_s = 0;     // fixed: run time; flows: computation time
  std::uint32_t phases = 1;  // flows: number of equal parts that both are split into
};

struct EndedJob {
  std::uint32_t number = 0;
  double end_s = 0;
};

// Threading: one thread at a time.
class JobRuntimes {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  virtual ~JobRuntimes() = default;
  // `background` is the load of the running jobs on the links.
  virtual base::Status start(const StartedJob& job, const LinkUse& background) = 0;
  virtual double next_event_s() = 0;  // kNever if no job runs
  // Advances to the next event. Returns the jobs that ended there, often none; valid until the next
  // call.
  virtual base::Result<std::span<const EndedJob>> step() = 0;

  // How long the job last started would run alone on the network; 0 if unknown.
  virtual base::Result<double> alone_s() { return 0.0; }
};

std::unique_ptr<JobRuntimes> make_fixed_runtimes();

// Max-min fair flows (flow_model.h) along the paths of `router`; `usage` may be null. The network,
// `usage` and the jobs must outlive it. An Error if a router splits flows.
base::Result<std::unique_ptr<JobRuntimes>> make_flow_runtimes(const Network& network,
                                                              const RouterRow& router,
                                                              std::uint64_t seed, LinkUsage* usage);

}  // namespace fathom::simulator
