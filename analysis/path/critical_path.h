// SPDX-License-Identifier: BSD-3-Clause
// The critical path: the chain of work, calls and messages that the job's run time is made of,
// critter's metrics along theirs (path_metrics.h), and how far off it each call is (path_slack.h).
//
// The walk goes backward from the process that came last to the end (analysis/engine/job_end.h).
// Where it comes to a call that waited, it goes on at the process that was waited for, at the
// moment that decided (analysis/engine/call_wait.h); so the path has no waits in it, and its parts
// add up to the time from the beginning of the job to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/engine/rounds.h"
#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

// Time on the path that is alike.
struct PathRow {
  std::uint32_t process = 0;
  std::uint32_t function = kNobody;  // kNobody: the program
  std::uint32_t leads_to =
      kNobody;  // of the program: the function whose call it leads to; kNobody: to none
  std::uint32_t follows = kNobody;  // of the program: the function whose call it follows
  std::uint32_t phase =
      kNobody;  // these three are of the call; of the program, of the call that it leads to
  std::int32_t communicator = -1;
  std::uint64_t site = 0;
  std::uint64_t follows_site = 0;
  std::uint64_t ns = 0, count = 0;
};

// A call, or work of the program between two, as far as it is on the path.
struct PathStretch {
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::uint32_t process = 0;
  std::uint32_t function = kNobody;  // kNobody: the program
};

struct CriticalPath {  // at analysis process 0
  std::vector<PathRow>
      rows;  // sorted by process, function, site, communicator, phase, then by the other call
  std::vector<PathStretch>
      stretches;  // the last ones, in order of time; each begins where the one before ends
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::uint64_t changes = 0;  // from one process to another
};

// Collective over the job's transport.
PassTo<CriticalPath> critical_path_pass(JoinedJob& job, std::size_t most_stretches = 0);

base::Result<Outcome> critical_path(const Input& input);

}  // namespace fathom::analysis
