// SPDX-License-Identifier: BSD-3-Clause
// CSV (RFC 4180, LF line ends): the times of the program's MPI calls, row by row.
//
//   rank,mpi_function,communicator,phase,calls,total_ns,shortest_ns,longest_ns,bytes,estimated,…
//   0,MPI_Send,0,,10,4120,290,803,120,exchange,solver.c,120,/usr/bin/solver,4660
//
// The last columns say where in the program the calls are made: function,file,line,module,offset.
#pragma once

#include "exporters/common/exporter.h"

namespace fathom::exporters {

// An Error if calls were not timed. A Selection chooses by communicator and phase.
base::Status export_calls_csv(const profile::Profile& profile, const Options& options,
                              const std::string& path, Notes& notes);

}  // namespace fathom::exporters
