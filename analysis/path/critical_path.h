// SPDX-License-Identifier: BSD-3-Clause
// The critical path: the chain of work, calls and messages that makes up the job's run time;
// critter's metrics along their own paths (path_metrics.h); and the slack of each call
// (path_slack.h).
//
// The walk goes backward from the process that reached the end last (analysis/engine/job_end.h). At
// a call that waited, it continues at the process waited for, at the decisive moment
// (analysis/engine/call_wait.h). So the path contains no waits, and its parts add up to the time
// from the beginning of the job to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/engine/rounds.h"
#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

// Time on the path with the same attributes.
struct PathRow {
  std::uint32_t process = 0;
  std::uint32_t function = kNobody;  // kNobody: the program
  std::uint32_t leads_to =
      kNobody;  // program: the function of the call after the work; kNobody: none
  std::uint32_t follows = kNobody;  // program: the function of the call before the work
  std::uint32_t phase =
      kNobody;  // these three are the call's; for the program, those of the call after the work
  std::int32_t communicator = -1;
  std::uint64_t site = 0;
  std::uint64_t follows_site = 0;
  std::uint64_t ns = 0, count = 0;
};

// A call, or the work between two calls, as far as it is on the path.
struct PathStretch {
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::uint32_t process = 0;
  std::uint32_t function = kNobody;  // kNobody: the program
};

struct CriticalPath {  // at analysis process 0
  std::vector<PathRow>
      rows;  // by process, function, site, communicator, phase, then the other call
  std::vector<PathStretch>
      stretches;  // the last ones, in order of time; each begins where the previous ends
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::uint64_t changes = 0;  // from one process to another
};

// Collective over the job's transport.
PassTo<CriticalPath> critical_path_pass(JoinedJob& job, std::size_t most_stretches = 0);

base::Result<Outcome> critical_path(const Input& input);

}  // namespace fathom::analysis
