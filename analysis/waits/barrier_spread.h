// SPDX-License-Identifier: BSD-3-Clause
// How far apart the members of each barrier come to it: from the first that enters to the last.
//
// Barriers are those of one communicator, in their order there, MPI_Ibarrier included (a pause of
// recording begins the count anew). Only barriers of which all members' calls are in the trace
// count. With a scope a barrier counts if a chosen rank takes part, and the last to enter does so
// in the window and the phase. Memory: barriers under way, and the worst. Cost: one pass over the
// steps.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

struct Barrier {
  std::int32_t communicator = 0;
  std::uint32_t sequence = 0;         // of the communicator's collectives
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
  std::vector<Barrier> worst;       // 64 at most, the widest first
  std::vector<LastAtBarrier> last;  // by communicator and process
};

// Collective over the job's transport.
BarrierSpread barrier_spread_of(const JoinedJob& job, const Scope& scope);

base::Result<Outcome> barrier_spread(const Input& input);

}  // namespace fathom::analysis
