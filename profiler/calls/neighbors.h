// SPDX-License-Identifier: BSD-3-Clause
// Whom the caller of a neighbourhood collective exchanges messages with, as MPI says it.
#pragma once

#include <cstdint>

#include "profiler/openmpi/mpi.h"

namespace fathom::profiler::calls {

// The number in NeighborLists of the sources and destinations on this communicator, its own rank left
// out; kUnknown without a topology. Asks the library once for each communicator, locally; later calls
// take a few loads.
std::int32_t neighbors_of(MPI_Comm comm);

}  // namespace fathom::profiler::calls
