// SPDX-License-Identifier: BSD-3-Clause
/* Compared by the compiler: the table of profiler/openmpi/standard_abi_table.h and an mpi.h of Open MPI
 * 6.0, that of the standard ABI or that of libmpi. own_mpi_header.py compiles this with each, by gcc,
 * which folds the casts of handles. */
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <stddef.h>

#ifdef OMPI_MAJOR_VERSION
#define FATHOM_HANDLE(name, number, variable) \
  _Static_assert((void *)name == (void *)&variable, #name);
#define FATHOM_ERROR(name, in_abi, in_libmpi) _Static_assert(name == in_libmpi, #name);
#define FATHOM_VALUE FATHOM_ERROR
#else
#define FATHOM_HANDLE(name, number, variable) _Static_assert((size_t)name == number, #name);
#define FATHOM_ERROR(name, in_abi, in_libmpi) _Static_assert(name == in_abi, #name);
#define FATHOM_VALUE FATHOM_ERROR

/* StandardAbi::Status, and what Fathom takes to be the same in both. */
_Static_assert(sizeof(MPI_Status) == 32 && offsetof(MPI_Status, MPI_internal) == 12, "the status");
_Static_assert(MPI_ANY_SOURCE == -1 && MPI_ROOT == -4 && MPI_UNDEFINED == -32766, "ranks");
_Static_assert((size_t)MPI_IN_PLACE == 1, "MPI_IN_PLACE");
_Static_assert((size_t)MPI_STATUS_IGNORE == 0 && (size_t)MPI_STATUSES_IGNORE == 0, "no status");
_Static_assert(MPI_THREAD_SINGLE == 0 && MPI_SUCCESS == 0, "zeros");
#endif
#include "profiler/openmpi/standard_abi_table.h"
