// SPDX-License-Identifier: BSD-3-Clause
// GOAL, the text format that LogGOPSim and ATLAHS read (txt2bin converts it to the binary one).
//
//   num_ranks 2
//   rank 0 {
//   l1: calc 1500                  the time between two calls, in nanoseconds
//   l2: send 1024b to 1 tag 7
//   l2 requires l1
//   }
//
// Collectives appear as the messages that the library actually sent, so a simulator replays the
// algorithm that ran. Dependencies: an operation requires what its thread did before it; a send
// inside a collective also requires what that collective received before; and what follows a wait
// or test requires what that completed. Computation irequires the non-blocking sends before it. Time inside MPI is left to the simulator. A length of 0 is
// written as 1, because LogGOPSim subtracts one. Tags: FlatTags.
#pragma once

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

base::Status export_goal(const trace::Trace& trace, const TraceOptions& options,
                         const std::string& path, Notes& notes);

}  // namespace fathom::exporters
