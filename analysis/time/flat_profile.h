// SPDX-License-Identifier: BSD-3-Clause
// Where each process spends its time: in calls of each MPI function, and in the program outside
// MPI.
//
// Inclusive time is from enter to leave; exclusive time subtracts nested MPI calls. With a time
// window, the part of a call inside it counts. Calls left out by sampling are included in `count`
// and in the times. The program's own time is that of its first thread; its inclusive time is all
// the time that the process spent in the scope between MPI_Init and MPI_Finalize. `mpi_seconds`
// covers all threads and leaves out these two functions. `mpi_share` is the first threads' time in
// MPI as a share of the time of all ranks, which is the run's duration times their number
// (trace_span.h), as for all shares.
#pragma once

#include <vector>

#include "analysis/calls/call_rows.h"
#include "analysis/results/analysis.h"
#include "analysis/time/counted_events.h"

namespace fathom::analysis {

// At analysis process 0: by process, function, communicator; with a choice of events, without
// the program. Collective over the transport.
base::Result<std::vector<CallRow>> count_calls(const CountedEvents& events);

// Counted once for all analyses of a run (Input::calls).
base::Result<std::vector<CallRow>> call_rows(const Input& input);

base::Result<Outcome> flat_profile(const Input& input);

}  // namespace fathom::analysis
