// SPDX-License-Identifier: BSD-3-Clause
// Runs one combination of a scenario and returns its results: as JSON for results.json, and as
// tables.
//
// In addition to the fields in simulator/run/results.h, a scenario's run in results.json has
//
//   "job"        names of the entries, joined by +
//   "scheduler"
//   "varied"     {key: value that was chosen from a list}
//   "end_s", "jobs_arrived", "jobs_started", "jobs_ended"
//   "wait_s", "response_s", "slow_down", "bounded_slow_down"
//                {"mean", "max"} over the jobs that ended (wait_s: that started)
//   "contention" flow model only: likewise for run time over run time alone
//   "over_time"  {"max_congestion", "mean_congestion", "congestion_deviation", "max_flows",
//                "waiting", "running", "busy_slots": {"mean", "deviation", "min", "max"}},
//                weighted by time from 0 to end_s
//   "jobs"       [{"job", "placement", "ranks", "hosts", "submit_s", "start_s", "end_s",
//                "wait_s", …}], null: not yet
//
// Its max_… are the highest at any time, and so are the bytes of which p95_congestion, imbalance and
// the worst links are made. Each link has the highest "traffic" and "flows" and the
// "mean_traffic" over time.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "scenario/scenario.h"
#include "scenario/workload.h"
#include "simulator/scheduling/scheduled_run.h"

namespace fathom::scenario {

struct CombinationRun {
  const Scenario* scenario = nullptr;
  const simulator::Network* cluster = nullptr;
  std::vector<NamedArrival> arrivals;
  simulator::ScheduledRun outcome;
};

// Told now and then how many of all jobs have arrived.
using JobProgress = std::function<void(std::size_t arrived, std::size_t of)>;

// Snapshots go to FOLDER/links-at-TIME.graphml. Everything the combination needs must be loaded.
base::Result<CombinationRun> run_combination(const Scenario& scenario, const Workload& workload,
                                             const std::string& folder,
                                             const JobProgress& progress = {});

std::string run_json(const CombinationRun& run);

// FOLDER/jobs.csv, timeline.csv, links.csv, and with the flow model utilisation.csv: the
// utilisation of each link over time.
base::Status write_tables(const CombinationRun& run, const std::string& folder);

// One line for runs.csv, and its heading.
std::string run_row(const CombinationRun& run);
std::string run_row_heading();

// A statistic over the jobs for which it is known.
struct Summary {
  double mean = 0, max = 0;
  std::size_t count = 0;
  void add(double value);
};
struct JobSummaries {
  std::size_t started = 0, ended = 0;
  Summary wait_s, response_s, slow_down, bounded_slow_down, contention;
};
JobSummaries summarize(const CombinationRun& run);

}  // namespace fathom::scenario
