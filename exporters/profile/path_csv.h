// SPDX-License-Identifier: BSD-3-Clause
// CSV (RFC 4180, LF line ends): the critical path through the run and through each named window,
// row by row.
//
//   window,rank,mpi_function,program,communicator,phase,stretches,total_ns,calls,bytes,…
//   ,4,MPI_Wait,1,0,,10,904000000,,,exchange,solver.c,120,/usr/bin/solver,4660
//
// The window of the whole run is empty. `program` 1 is what is computed before the calls; it
// has no calls and bytes. The last columns say where in the program the calls are made:
// function,file,line,module,offset.
#pragma once

#include "exporters/common/exporter.h"

namespace fathom::exporters {

// An Error if there is no path. A Selection chooses by communicator and phase.
base::Status export_path_csv(const profile::Profile& profile, const Options& options,
                             const std::string& path, Notes& notes);

}  // namespace fathom::exporters
