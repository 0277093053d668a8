// SPDX-License-Identifier: BSD-3-Clause
// What a program of the standard ABI passes and gets, in the values of Open MPI's own libmpi.
//
// Open MPI 6.0 has two libraries over one libopen_mpi. In libmpi.so.40 a handle is the address of
// Open MPI's structure. In libmpi_abi.so.1, the standard ABI (MPI 5.0, chapter "Application Binary
// Interface"), the predefined handles are numbers from 1 to 4095, and some constants, the error
// classes and the status differ; every other handle is the address again (the conversions that
// ompi/mpi/bindings/ompi_bindings/c_header.py writes). Below MPI's interface nothing differs. So the
// wrappers pass the program's arguments on as they are, and whatever Fathom reads of them goes
// through native() and its kin.
//
// A program of libmpi.so.40 does not pay for it: one comparison recognises a null handle and a
// predefined one of the ABI, and all numbers below 4096 then mean a null handle.
//
// Threading: find_standard_abi() before MPI begins, when nothing is counted; the others from any
// thread. native() and its kin are hot.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profiler/openmpi/mpi.h"

namespace fathom::profiler {

struct StandardAbi {
  // The ABI's values, by the names of MPI: kMPI_ANY_TAG.
  enum : int {
#define FATHOM_VALUE(name, in_abi, in_libmpi) k##name = in_abi,
#include "profiler/openmpi/standard_abi_table.h"
  };

  struct Status {
    int source, tag, error;
    int cancelled;  // the first of MPI_internal[5]
    int rest[4];
  };

  static_assert(sizeof(Status) == 32);

  static constexpr std::uintptr_t kPredefinedEnd = 4096;
  // What MPI_X_toint adds to Open MPI's own number of a handle that is not predefined (MPI 5.0,
  // section 20.3.4; OMPI_ABI_HANDLE_BASE_OFFSET in ompi/mpi/c/abi_converters.h).
  static constexpr int kFirstOwnNumber = 16385;

  // Whether the program's MPI functions are those of libmpi_abi.
  static inline bool in_use = false;
  // Open MPI's object for the number of a predefined handle. All null unless in_use.
  static inline const void* predefined[kPredefinedEnd] = {};
};

// Fills in StandardAbi if the program's MPI library is the one of the standard ABI.
void find_standard_abi();

// The handle by which the program's MPI functions know a predefined object of Open MPI, given by the
// name of its variable: "ompi_mpi_comm_self". Null if there is none. For Fathom's own calls.
void* predefined_handle(const char* variable);

// The address of Open MPI's structure; null for a null pointer, and for numbers that mean nothing.
template <typename Handle>
Handle native(Handle handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number >= StandardAbi::kPredefinedEnd) [[likely]]
    return handle;
  return static_cast<Handle>(const_cast<void*>(StandardAbi::predefined[number]));
}

// A source, destination or root.
inline int native_rank(int rank) {
  if (rank >= 0) [[likely]]
    return rank;
  return StandardAbi::in_use && rank == StandardAbi::kMPI_PROC_NULL ? MPI_PROC_NULL : rank;
}

inline int native_tag(int tag) {
  if (tag >= 0) [[likely]]
    return tag;
  return StandardAbi::in_use && tag == StandardAbi::kMPI_ANY_TAG ? MPI_ANY_TAG : tag;
}

// What an MPI function returned.
int native_error_in_abi(int result);
inline int native_error(int result) {
  if (result == MPI_SUCCESS || !StandardAbi::in_use) [[likely]]
    return result;
  return native_error_in_abi(result);
}

// Whether status `i` of an array says that its request was cancelled; false for MPI_STATUSES_IGNORE,
// which is a null pointer in both.
inline bool was_cancelled(const MPI_Status* statuses, int i = 0) {
  if (statuses == nullptr) return false;
  if (StandardAbi::in_use) [[unlikely]]
    return reinterpret_cast<const StandardAbi::Status*>(statuses)[i].cancelled != 0;
  return statuses[i]._cancelled != 0;
}

// A constant of MPI as the program's functions take and return it. For Fathom's own calls.
#define FATHOM_OF_PROGRAM(name) \
  (::fathom::profiler::StandardAbi::in_use ? int{::fathom::profiler::StandardAbi::k##name} : name)

}  // namespace fathom::profiler
