// SPDX-License-Identifier: BSD-3-Clause
// How long a job would have run if some of its times had been others.
//
// All processes are replayed in causal order (analysis/engine/causal_walk.h). In the run, a thread
// works, enters a call, waits until what the call completes is there, and leaves after some more
// time, its rest. With work' and rest' the changed times:
//
//   entered' = left' of the call before + work'
//   left'    = max(entered', ready') + rest'         rest = left - max(entered, ready)
//   ready    the latest of
//     a message           when it arrived:  max(sent, posted)' + latency'
//                         latency = arrived - max(sent, posted)
//     a send that waited  when its receive was posted (analysis/engine/awaited_receives.h)
//     a lock              when the one that held it in the run released it (lock_order.h)
//     a collective        when the last of those that it depends on entered (collectives.h)
//
// `sent` and `posted` are when the calls that send and that post the receive are entered. Each time
// is the recorded one plus a difference that begins with 0, so without a change the result is the
// recorded run, to the nanosecond, whatever its clocks say. The result is exact for that machine,
// and the same for every number of analysis processes. Assumptions:
//
// - Messages are matched as in the run, calls complete what they completed, loops of MPI_Test end
//   when that is there, and the program takes the same way through its code.
// - Messages do not disturb each other more or less than in the run. A large send whose receive was
//   already posted does not wait for it, unless it is synchronous.
// - Locks are taken in the order of the run, and only a call that waited for one waits for it.
// - Everything up to the end of MPI_Init stays as it was.
// - What is changed in a part of the run is what lies in that part as it was recorded.
// - The program's own threads wait for each other outside MPI no more than they did.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/scope/input.h"
#include "analysis/scope/supposed_change.h"
#include "base/result.h"

namespace fathom::analysis {

struct ChangedTime {  // of one process
  std::uint32_t process = 0;
  std::uint32_t reserved = 0;
  std::uint64_t begin_ns = 0, end_ns = 0;  // in the run: MPI_Init left, MPI_Finalize entered
  std::uint64_t changed_end_ns = 0;
  std::uint64_t part_ns = 0, changed_part_ns = 0;  // of its first thread, in the chosen part
};

struct ChangedRun {
  std::vector<ChangedTime> processes;  // at analysis process 0, ascending
  std::uint64_t released = 0;          // dependences ignored because their other end is missing
};

// Only time in `scope` is changed: of its ranks (of messages, the receivers), in its window, in its
// phases. Several changes of the same time multiply. An Error if a change concerns nothing there;
// every analysis process returns it. Collective over the job's transport. Writes `note` of calls.
base::Result<ChangedRun> changed_run(JoinedJob& job, const std::vector<SupposedChange>& changes,
                                     const Scope& scope = {});

}  // namespace fathom::analysis
