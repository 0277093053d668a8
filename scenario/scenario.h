// SPDX-License-Identifier: BSD-3-Clause
// One combination of a scenario: a cluster, algorithms, and the jobs that arrive. The file format
// is docs/scenarios.md; scenario_reader.h reads it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simulator/formats/cluster.h"
#include "simulator/jobs/distributions.h"
#include "simulator/jobs/patterns.h"
#include "simulator/placement/choice.h"
#include "simulator/scheduling/scheduled_run.h"

namespace fathom::scenario {

struct Pattern {
  const simulator::PatternRow* row = nullptr;  // nullptr: no pattern
  std::int64_t ranks = 0;                      // 0: as given by the job log
  std::uint64_t bytes = 0;
};

// A stream of jobs of one kind.
struct JobEntry {
  std::string name;
  std::string profile;             // file or folder; alternatively
  Pattern pattern;                 // synthetic; jobs of a log have this too
  std::string log;                 // file with arrivals, sizes and times
  simulator::Distribution submit;  // time between arrivals; without a row: one job, at `at_s`
  double at_s = 0;
  simulator::Distribution duration;  // seconds; flow model: of computation
  simulator::Distribution request;   // time requested from the scheduler; no row: the duration
  std::uint64_t count = 0;           // maximum; 0: all that arrive in time
  std::uint32_t phases = 1;
  simulator::PlacementChoice placement;  // its own, or the scenario's
  std::string where;                     // "file:line:column", for errors found later
};

struct Scenario {
  std::string cluster;        // as accepted by simulator::load_cluster()
  std::string cluster_where;  // "file:line:column", for errors found later
  simulator::ClusterDefaults defaults;
  std::vector<std::string> failed_links;
  double failed_share = 0;
  simulator::SystemChoice choice;        // without snapshot function and placement
  simulator::PlacementChoice placement;  // of jobs that have none of their own
  std::vector<JobEntry> jobs;
  std::vector<std::pair<std::string, std::string>> varied;  // keys whose value came from a list
};

struct ScenarioFile {
  std::string output;  // folder named in the file; empty if none
  std::vector<Scenario> combinations;
};

}  // namespace fathom::scenario
