// SPDX-License-Identifier: BSD-3-Clause
// One job alone on a cluster, in time: as flows of its phases, or replayed operation by operation.
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
  std::unique_ptr<LinkUsage> busy;   // replay only: when each processor did (replay.h)
};

struct Waiting {
  double from_s = 0, to_s = 0;
  double ranks = 0;  // how many waited, on average over this time
};

// Of a replay: ranks that have not ended and of which no processor computes, sends or receives.
// With several processors a rank waits for as long as all of them together leave idle.
std::vector<Waiting> waiting_over_time(const TimedRun& run);

inline constexpr std::size_t kTimedIntervals = 128;

// The phases one after the other, each sending all of its pairs at once. Ways are those that the
// router chooses for the whole job. An Error if the router splits flows.
base::Result<TimedRun> run_flows(const Network& network, const Job& whole,
                                 std::span<const Job> phases, const Choice& choice);

// The program on the network, with the machine's parameters at the ends of each message (replay.h).
base::Result<TimedRun> run_replay(const Network& network, const Job& job, const Program& program,
                                  const LogGops& machine, const Choice& choice);

// The run as an object of results.json: cluster, job, selection, placement, routing, model, seed,
// "seconds", "phases" [{"phase", "bytes", "start_s", "end_s"}] or "ranks" [{"end_s", "compute_s",
// "overhead_s", "wait_s"}], "messages", "events", "unreceived"; and "links" with "traffic" (bytes)
// and "utilisation" (of the capacity, over the whole time).
std::string timed_json(const Network& network, const std::string& job, const TimedRun& run,
                       bool host_links);

}  // namespace fathom::simulator
