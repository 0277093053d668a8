// SPDX-License-Identifier: BSD-3-Clause
// Compared by the compiler: what Fathom says of MPI in C (profiler/openmpi/mpi.h, and the prototypes
// of mpi/functions.table), and the mpi.h of one Open MPI. A prototype or a macro that differs is an
// error or a warning; sizes and enumerators are compared below. own_mpi_header.py compiles this with
// the headers of each release.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <cstddef>

namespace own {
#include "profiler/openmpi/mpi.h"
}

// Types of functions that this release lacks.
#if OMPI_MAJOR_VERSION < 5
using own::MPI_Session;
using own::MPI_Session_errhandler_function;
#endif
#if OMPI_MAJOR_VERSION < 6
using own::MPI_Datarep_conversion_function_c;
using own::MPI_T_cb_safety;
using own::MPI_T_event_cb_function;
using own::MPI_T_event_dropped_cb_function;
using own::MPI_T_event_free_cb_function;
using own::MPI_T_event_instance;
using own::MPI_T_event_registration;
using own::MPI_T_source_order;
using own::MPI_User_function_c;
#endif
#if OMPI_MAJOR_VERSION == 5  // its array lacks the standard's const
#define PMPI_Pready_list PMPI_Pready_list_of_the_standard
#endif
#include "mpi_functions.h"

#define SAME_SIZE(type) static_assert(sizeof(own::type) == sizeof(type))
#define SAME_PLACE(field) \
  static_assert(offsetof(own::MPI_Status, field) == offsetof(MPI_Status, field))
#define SAME_VALUE(name) static_assert(int{own::name} == int{name})

SAME_SIZE(MPI_Aint);
SAME_SIZE(MPI_Comm);
SAME_SIZE(MPI_Count);
SAME_SIZE(MPI_Datatype);
SAME_SIZE(MPI_Errhandler);
SAME_SIZE(MPI_File);
SAME_SIZE(MPI_Group);
SAME_SIZE(MPI_Info);
SAME_SIZE(MPI_Message);
SAME_SIZE(MPI_Offset);
SAME_SIZE(MPI_Op);
SAME_SIZE(MPI_Request);
SAME_SIZE(MPI_Session);
SAME_SIZE(MPI_Status);
SAME_SIZE(MPI_T_cvar_handle);
SAME_SIZE(MPI_T_cb_safety);
SAME_SIZE(MPI_T_enum);
SAME_SIZE(MPI_T_event_cb_function);
SAME_SIZE(MPI_T_event_instance);
SAME_SIZE(MPI_T_event_registration);
SAME_SIZE(MPI_T_pvar_handle);
SAME_SIZE(MPI_T_pvar_session);
SAME_SIZE(MPI_T_source_order);
SAME_SIZE(MPI_Win);
SAME_PLACE(MPI_SOURCE);
SAME_PLACE(MPI_TAG);
SAME_PLACE(MPI_ERROR);
SAME_PLACE(_cancelled);
SAME_PLACE(_ucount);
SAME_VALUE(MPI_THREAD_SINGLE);
SAME_VALUE(MPI_THREAD_MULTIPLE);
SAME_VALUE(MPI_T_BIND_NO_OBJECT);
SAME_VALUE(MPI_T_BIND_MPI_COMM);
SAME_VALUE(MPI_T_PVAR_CLASS_SIZE);
SAME_VALUE(MPI_T_PVAR_CLASS_COUNTER);
SAME_VALUE(MPI_T_PVAR_CLASS_AGGREGATE);
