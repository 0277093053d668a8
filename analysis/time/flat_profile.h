// SPDX-License-Identifier: BSD-3-Clause
// Where each process spends its time: calls of each MPI function, and the program outside of MPI.
//
// Inclusive time is from enter to leave, exclusive less the calls of MPI inside. With a window of
// time calls count for the part of them inside it. Calls that sampling left out are in `count` and
// in the times. The program's own time is that of its first thread, its inclusive time all that the
// process was in the scope. `mpi_seconds` is that of all threads; `mpi_share` is the first threads'
// time in MPI, of the time of all ranks, which is the run's times their number (trace_span.h), as
// all shares are.
#pragma once

#include <vector>

#include "analysis/calls/call_rows.h"
#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

// Counted once for all analyses of a run (Input::calls). At analysis process 0: by process,
// function, communicator. Collective over the input's transport.
base::Result<std::vector<CallRow>> call_rows(const Input& input);

base::Result<Outcome> flat_profile(const Input& input);

}  // namespace fathom::analysis
