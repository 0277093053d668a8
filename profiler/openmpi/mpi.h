// SPDX-License-Identifier: BSD-3-Clause
// MPI in C as every Open MPI from 4.1 to 6.0 offers it in libmpi.so.40: what its mpi.h says, as far as
// the libraries need it. What the standard ABI of 6.0 has otherwise is in standard_abi.h.
//
// They are built without an MPI's own headers, so that one build serves all releases and knows
// functions that the build machine's MPI lacks. The functions are declared in the generated
// mpi_functions.h. test/core compares both with the mpi.h of each release that is installed.
#pragma once

#include <cstddef>

// NOLINTBEGIN: the names are MPI's
using MPI_Aint = std::ptrdiff_t;
using MPI_Offset = long long;
using MPI_Count = long long;

// Handles are pointers to structures that only the library knows.
using MPI_Comm = struct ompi_communicator_t *;
using MPI_Datatype = struct ompi_datatype_t *;
using MPI_Errhandler = struct ompi_errhandler_t *;
using MPI_File = struct ompi_file_t *;
using MPI_Group = struct ompi_group_t *;
using MPI_Info = struct ompi_info_t *;
using MPI_Message = struct ompi_message_t *;
using MPI_Op = struct ompi_op_t *;
using MPI_Request = struct ompi_request_t *;
using MPI_Session = struct ompi_instance_t *;
using MPI_Win = struct ompi_win_t *;
using MPI_T_enum = struct mca_base_var_enum_t *;
using MPI_T_cvar_handle = struct ompi_mpit_cvar_handle_t *;
using MPI_T_pvar_handle = struct mca_base_pvar_handle_t *;
using MPI_T_pvar_session = struct mca_base_pvar_session_t *;
using MPI_T_event_instance = unsigned long *;
using MPI_T_event_registration = unsigned long *;
// Enumerations, of which only the size matters here.
enum MPI_T_cb_safety : unsigned;
enum MPI_T_source_order : unsigned;

struct ompi_status_public_t {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int _cancelled;
  std::size_t _ucount;
};
using MPI_Status = ompi_status_public_t;

extern "C" {
using MPI_Comm_copy_attr_function = int(MPI_Comm, int, void *, void *, void *, int *);
using MPI_Comm_delete_attr_function = int(MPI_Comm, int, void *, void *);
using MPI_Comm_errhandler_function = void(MPI_Comm *, int *, ...);
using MPI_Copy_function = int(MPI_Comm, int, void *, void *, void *, int *);
using MPI_Datarep_conversion_function = int(void *, MPI_Datatype, int, void *, MPI_Offset, void *);
using MPI_Datarep_conversion_function_c = int(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset,
                                              void *);
using MPI_Datarep_extent_function = int(MPI_Datatype, MPI_Aint *, void *);
using MPI_Delete_function = int(MPI_Comm, int, void *, void *);
using MPI_File_errhandler_function = void(MPI_File *, int *, ...);
using MPI_Grequest_cancel_function = int(void *, int);
using MPI_Grequest_free_function = int(void *);
using MPI_Grequest_query_function = int(void *, MPI_Status *);
using MPI_Session_errhandler_function = void(MPI_Session *, int *, ...);
using MPI_Type_copy_attr_function = int(MPI_Datatype, int, void *, void *, void *, int *);
using MPI_Type_delete_attr_function = int(MPI_Datatype, int, void *, void *);
using MPI_User_function = void(void *, void *, int *, MPI_Datatype *);
using MPI_User_function_c = void(void *, void *, MPI_Count *, MPI_Datatype *);
using MPI_Win_copy_attr_function = int(MPI_Win, int, void *, void *, void *, int *);
using MPI_Win_delete_attr_function = int(MPI_Win, int, void *, void *);
using MPI_Win_errhandler_function = void(MPI_Win *, int *, ...);
using MPI_T_event_cb_function = void (*)(MPI_T_event_instance, MPI_T_event_registration,
                                         MPI_T_cb_safety, void *);
using MPI_T_event_dropped_cb_function = void (*)(MPI_Count, MPI_T_event_registration, int,
                                                 MPI_T_cb_safety, void *);
using MPI_T_event_free_cb_function = void (*)(MPI_T_event_registration, MPI_T_cb_safety, void *);
}

// Macros where mpi.h has macros, to the blank: another value would be reported as a redefinition.
// clang-format off
#define MPI_SUCCESS 0
#define MPI_ERR_REQUEST 7
#define MPI_ERR_ARG 13
#define MPI_ERR_OTHER 16
#define MPI_ERR_IN_STATUS 18
#define MPI_ERR_PENDING 19
#define MPI_ANY_SOURCE -1
#define MPI_ANY_TAG -1
#define MPI_PROC_NULL -2
#define MPI_ROOT -4
#define MPI_UNDEFINED -32766
#define MPI_CART 1
#define MPI_MODE_NOCHECK 1
#define MPI_LOCK_EXCLUSIVE 1
#define MPI_GRAPH 2
#define MPI_DIST_GRAPH 3
#define MPI_IN_PLACE ((void *) 1)
#define MPI_STATUS_IGNORE (static_cast<MPI_Status *> (0))
#define MPI_STATUSES_IGNORE (static_cast<MPI_Status *> (0))
// clang-format on
enum { MPI_THREAD_SINGLE = 0, MPI_THREAD_MULTIPLE = 3 };
enum { MPI_T_BIND_NO_OBJECT = 0, MPI_T_BIND_MPI_COMM = 1 };
enum { MPI_T_PVAR_CLASS_SIZE = 2, MPI_T_PVAR_CLASS_COUNTER = 6, MPI_T_PVAR_CLASS_AGGREGATE = 7 };
// NOLINTEND
