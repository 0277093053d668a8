// SPDX-License-Identifier: BSD-3-Clause
// The runs of a simulation's results.json (simulator/run/results.h) without their links: what was
// combined, the figures that say how good it was, and which combination is the best.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

inline constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

struct SimulatedLink {
  std::string source, target;  // empty: no link carried anything
  double capacity = 0, traffic = 0;

  double congestion() const { return capacity > 0 ? traffic / capacity : 0; }
};

struct SimulatedRun {
  std::string cluster, job, scheduler, selection, placement, routing, model;
  std::uint64_t seed = 0;
  std::vector<std::pair<std::string, std::string>> varied;  // scenarios: key, value from a list
  double seconds = kNotKnown;                               // models of time
  double response_s = kNotKnown;                            // scenarios: mean over the jobs
  double max_congestion = kNotKnown, mean_congestion = kNotKnown;
  double p95_congestion = kNotKnown, imbalance = kNotKnown;
  SimulatedLink worst_link, worst_host_link;
};

// `path` is results.json or its folder. The links are skipped: memory follows the number of runs.
base::Result<std::vector<SimulatedRun>> read_simulated_runs(const std::string& path);

// What tells how good a run is, and less is better: "response_s" for many jobs, "seconds" for the
// models of time, else "max_congestion".
struct Criterion {
  const char* name;   // in JSON
  const char* words;  // on the screen
  double SimulatedRun::*value;
};
const Criterion& criterion_of(const SimulatedRun& run);

// Whether `one` is better than `other` by its criterion; of equals, the one with less congestion of
// the worst link, then of the mean link.
bool is_better(const SimulatedRun& one, const SimulatedRun& other);

// Runs can be compared if the same job, or the same mixture of jobs, runs under the same model.
bool comparable(const SimulatedRun& one, const SimulatedRun& other);

}  // namespace fathom::cli
