// SPDX-License-Identifier: BSD-3-Clause
// One job alone on a cluster, simulated in time: its phases as flows, or a replay of its
// operations.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulator/flow/link_usage.h"
#include "simulator/loggops/program.h"
#include "simulator/loggops/replay.h"
#include "simulator/run/one_job.h"

namespace fathom::simulator {

struct PhaseOutcome {
  std::string name;
  double bytes = 0;
  double start_s = 0, end_s = 0;
};

struct TimedRun {
  std::string selection, placement, routing;  // names, as in LoadRun
  std::uint64_t seed = 1;
  double seconds = 0;
  std::vector<PhaseOutcome> phases;  // flows only
  ReplayResult replay;               // replay only
  std::unique_ptr<LinkUsage> usage;  // what each link carried over time
  std::unique_ptr<LinkUsage> busy;   // replay only: when each processor was busy (replay.h)
};

struct Waiting {
  double from_s = 0, to_s = 0;
  double ranks = 0;  // average number of ranks waiting during this time
};

// For a replay: ranks that have not ended and have no processor computing, sending or receiving.
// With several processors, a rank's busy times are added up; the rest of the interval counts as
// waiting.
std::vector<Waiting> waiting_over_time(const TimedRun& run);

inline constexpr std::size_t kTimedIntervals = 128;

// Runs the phases one after the other; each sends all of its pairs at once. The router chooses the
// paths for the whole job. An Error if the router splits flows.
base::Result<TimedRun> run_flows(const Network& network, const Job& whole,
                                 std::span<const Job> phases, const Choice& choice);

// Replays the program on the network, with the machine's parameters at both ends of each message
// (replay.h).
base::Result<TimedRun> run_replay(const Network& network, const Job& job, const Program& program,
                                  const LogGops& machine, const Choice& choice);

// The run as an object for results.json:
//
//   cluster, job, selection, placement, routing, model, seed, host_links, "seconds",
//   p95_congestion, imbalance, worst_link, worst_host_link as in results.h,
//   flows:   "phases": [{"phase", "bytes", "start_s", "end_s"}],
//   replay:  "ranks": [{"end_s", "compute_s", "overhead_s", "wait_s"}],
//            "messages", "events", "unreceived",
//   "links", with "traffic" (bytes) and "utilisation" (of the capacity, over the whole time)
std::string timed_json(const Network& network, const std::string& job, const TimedRun& run,
                       bool host_links);

}  // namespace fathom::simulator
