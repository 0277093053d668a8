// SPDX-License-Identifier: BSD-3-Clause
// How each rank's time is divided: computing, in MPI, and of that in calls that can wait and in
// waits for other processes (wait states, analysis/engine/call_wait.h).
//
// `blocking_seconds` is what Pipit calls idle time with mpi_events: inclusive time of calls that
// receive, complete or probe. `waiting_seconds` is the part of all calls in which another process
// had not come yet. `seconds` is from the rank's first event to its last, `outside_seconds` the
// rest of the run. `waiting_share` is of the time of all ranks, which is the run's times their
// number (trace_span.h), as all shares are.
#pragma once

#include "analysis/results/analysis.h"

namespace fathom::analysis {

base::Result<Outcome> idle_time(const Input& input);

}  // namespace fathom::analysis
