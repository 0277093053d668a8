// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives: PERSISTENT(Bcast) is the standard's MPI_Bcast_init, or what Open MPI 4.1 calls
// it.
#pragma once

#include <mpi.h>

// The header of the standard ABI is that of no Open MPI.
#if OMPI_MAJOR_VERSION >= 5 || MPI_VERSION >= 5
#define PERSISTENT(name) MPI_##name##_init
#else
#include <mpi-ext.h>
#define PERSISTENT(name) MPIX_##name##_init
#endif
