// SPDX-License-Identifier: BSD-3-Clause
// The spread of each barrier: the time from the first member's entry to the last member's.
//
// Barriers belong to one communicator, in their order there, MPI_Ibarrier included (a pause in
// recording restarts the count). A barrier counts only if the trace has the calls of all members.
// With a scope, a chosen rank must take part, and the last entry must be in the window and the
// phase. Memory: active barriers, and the worst. Cost: one pass over the steps.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

struct Barrier {
  std::int32_t communicator = 0;
  std::uint32_t sequence = 0;         // among the communicator's collectives
  std::uint32_t first = 0, last = 0;  // processes
  std::uint64_t first_ns = 0, last_ns = 0;
  std::uint64_t spread_ns() const { return last_ns - first_ns; }
};

// The barriers of one communicator to which one process came last.
struct LastAtBarrier {
  std::int32_t communicator = 0;
  std::uint32_t process = 0;
  std::uint64_t count = 0, spread_ns = 0, most_ns = 0;
};

struct BarrierSpread {              // at analysis process 0
  std::vector<Barrier> worst;       // at most 64, the widest first
  std::vector<LastAtBarrier> last;  // by communicator and process
};

// Collective over the job's transport.
BarrierSpread barrier_spread_of(const JoinedJob& job, const Scope& scope);

base::Result<Outcome> barrier_spread(const Input& input);

}  // namespace fathom::analysis
