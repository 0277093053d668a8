// SPDX-License-Identifier: BSD-3-Clause
// How each rank's time is divided: computing and MPI; within MPI, calls that can wait and waits for
// other processes (wait states, analysis/engine/call_wait.h).
//
//   blocking_seconds   Pipit's idle time with mpi_events: inclusive time of calls that receive,
//                      complete or probe
//   waiting_seconds    the part of all calls in which another process had not arrived yet
//   seconds            from the rank's first event to its last
//   outside_seconds    the rest of the run
//   waiting_share      share of the time of all ranks, which is the run's duration times their
//                      number (trace_span.h), as for all shares
#pragma once

#include "analysis/results/analysis.h"

namespace fathom::analysis {

base::Result<Outcome> idle_time(const Input& input);

}  // namespace fathom::analysis
