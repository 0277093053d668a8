// SPDX-License-Identifier: BSD-3-Clause
// CSV (RFC 4180, LF line ends): who waited for whom, in which calls, row by row.
//
//   rank,awaited,kind,mpi_function,communicator,phase,waits,total_ns,longest_ns,…
//   4,5,late-sender,MPI_Wait,0,,10,81200,40100,exchange,solver.c,120,/usr/bin/solver,4660
//
// The last columns say where in the program the calls are made: function,file,line,module,offset.
#pragma once

#include "exporters/common/exporter.h"

namespace fathom::exporters {

// An Error if nobody looked for waits. A Selection chooses by communicator and phase.
base::Status export_waits_csv(const profile::Profile& profile, const Options& options,
                              const std::string& path, Notes& notes);

}  // namespace fathom::exporters
