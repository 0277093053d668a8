// SPDX-License-Identifier: BSD-3-Clause
// Jobs that arrive at a cluster, wait, run side by side and end: how long each waited, and the load
// on the links meanwhile.
//
// At each moment, jobs that end leave, jobs that arrive join the queue, then the scheduler starts
// what it can. When a job starts, its hosts are selected, its processes placed and its demands
// routed on top of the load of the running jobs (their whole traffic, as in the link-load model).
// Paths stay fixed until the job ends.
//
//     wait = start - arrival     response = end - arrival     run = end - start
//     slow-down = response / run
//     bounded slow-down = max(1, response / max(run, 10 s))    (D. Feitelson et al., JSSPP 1997)
//
// All randomness comes from the seed. Cost: for each start the selection, placement and routing of
// the job; for each moment one pass over all links. Threading: one run, one thread; runs share
// nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulator/flow/link_usage.h"
#include "simulator/jobs/job.h"
#include "simulator/placement/placement.h"
#include "simulator/routing/routing.h"
#include "simulator/scheduling/link_ledger.h"
#include "simulator/scheduling/scheduler.h"
#include "simulator/scheduling/time_weighted.h"

namespace fathom::simulator {

enum class RunModel { kLoad, kFlow };  // when jobs end: after their duration, or job_runtimes.h

struct Arrival {
  std::shared_ptr<const Job> job;
  double submit_s = 0;
  double duration_s = 0;
  double request_s = 0;                     // the requested time that the scheduler sees
  std::uint32_t phases = 1;                 // flow model only
  const PlacementRow* placement = nullptr;  // for this job; nullptr: the system's
  // Replaces selection and placement; has as many ranks as the job. The job waits for these hosts.
  std::shared_ptr<const Placement> given_placement = {};
};

struct SystemChoice {
  const SchedulerRow* scheduler = nullptr;
  const SelectorRow* selector = nullptr;
  const PlacementRow* placement = nullptr;
  const RouterRow* router = nullptr;
  RunModel model = RunModel::kLoad;
  std::uint64_t seed = 1;
  double until_s = 0;  // may be infinite: until all jobs have ended
  bool host_links = false;
  std::vector<double> snapshots_s;  // ascending
  // Called with the time of a snapshot and the load on the links then, after all events of that
  // time.
  std::function<base::Status(double time_s, const LinkUse& use)> snapshot;
  // May be empty; called now and then with the number of jobs that have arrived so far.
  std::function<void(std::size_t arrived)> progress = {};
};

inline constexpr double kNotYet = -1;

struct JobOutcome {
  double start_s = kNotYet, end_s = kNotYet;  // kNotYet if the run ended before
  double alone_s = 0;                         // flow model: run time alone on the network
  std::uint32_t hosts = 0;
  double wait_s(const Arrival& arrival) const { return start_s - arrival.submit_s; }
  double response_s(const Arrival& arrival) const { return end_s - arrival.submit_s; }
  double run_s() const { return end_s - start_s; }
  double slow_down(const Arrival& arrival) const;
  double bounded_slow_down(const Arrival& arrival) const;
};

struct SystemState {  // from time_s on
  double time_s = 0;
  double max_traffic = 0, max_congestion = 0, mean_congestion = 0, congestion_deviation = 0;
  double max_flows = 0;
  std::uint32_t waiting = 0, running = 0;
  double busy_slots = 0;
};

struct ScheduledRun {
  std::vector<JobOutcome> jobs;       // by arrival
  std::vector<SystemState> timeline;  // every change, from time 0 on
  TimeWeighted max_congestion, mean_congestion, congestion_deviation, max_flows, waiting, running,
      busy_slots;
  LinkLedger links;
  std::unique_ptr<LinkUsage> usage;  // flow model: what links carried over time
  double end_s = 0;                  // until_s, or the end of the last job
};

inline constexpr std::size_t kUsageIntervals = 128;

// `arrivals` are ascending by submit_s. An Error names a job that needs more slots than the cluster
// has, or says which step failed.
base::Result<ScheduledRun> run_scheduled(const Network& network,
                                         const std::vector<Arrival>& arrivals,
                                         const SystemChoice& choice);

}  // namespace fathom::simulator
