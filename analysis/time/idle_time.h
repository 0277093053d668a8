// SPDX-License-Identifier: BSD-3-Clause
// How each rank's time is divided: computing and MPI; within MPI, calls that can wait and waits for
// other processes (wait states, analysis/engine/call_wait.h).
//
//   blocking_seconds   Pipit's idle time with mpi_events: inclusive time of calls that receive,
//                      complete or probe
//   waiting_seconds    the part of all calls in which another process had not arrived yet
//   seconds            from the end of MPI_Init to the beginning of MPI_Finalize
//   outside_seconds    the rest of the run
//   waiting_share      share of the time of all ranks, which is the run's duration times their
//                      number (trace_span.h), as for all shares
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/calls/call_rows.h"
#include "analysis/results/analysis.h"

namespace fathom::analysis {

// By number of the function: whether its calls receive, complete or probe, and so can wait.
std::vector<bool> functions_that_can_wait(const trace::Definitions& definitions);

// Inclusive ns of each of `processes` (ascending) in these functions.
std::vector<std::uint64_t> time_in(const std::vector<CallRow>& calls,
                                   const std::vector<std::uint32_t>& processes,
                                   const std::vector<bool>& functions);

base::Result<Outcome> idle_time(const Input& input);

}  // namespace fathom::analysis
