// SPDX-License-Identifier: BSD-3-Clause
// The few functions whose Fortran bindings bypass C because they work on integers and callbacks of
// their own (rows with fortran=direct). All names of their Fortran entry points are defined with
// this.
//
// A call is passed on to the next definition of the name that was called, or, if that cannot be
// found (bindings loaded privately), to the binding's inner function. Arguments are pointers; the
// last is ierror.
#pragma once

#include <dlfcn.h>

#include <atomic>

#include "profiler/calls/arguments.h"
#include "profiler/calls/call_sites.h"
#include "profiler/openmpi/next_function.h"

namespace fathom::profiler::traced {

class FortranFunction {
 public:
  using Function = void (*)(void*, void*, void*, void*,
                            void*);  // surplus arguments do no harm

  // `inner`: the function in libmpi_mpifh that all names are aliases of, "ompi_comm_get_attr_f".
  constexpr FortranFunction(const char* name, const char* inner) : name_(name), inner_(inner) {}

  Function next() {
    Function known = next_.load(std::memory_order_acquire);
    if (known == nullptr) [[unlikely]] {
      known = find();
      next_.store(known, std::memory_order_release);
    }
    return known;
  }

 private:
  Function find() const {
    if (void* found = next_definition(name_)) return reinterpret_cast<Function>(found);
    void* bindings = dlopen("libmpi_mpifh.so.40", RTLD_LAZY | RTLD_NOLOAD);
    return bindings == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(bindings, inner_));
  }

  const char* name_;
  const char* inner_;
  std::atomic<Function> next_{nullptr};
};

// The C handle of a Fortran handle; null if there is none.
inline MPI_Comm comm_of_fortran(const void* handle) {
  static const auto convert = find_in_mpi_as<MPI_Comm (*)(int)>("PMPI_Comm_f2c");
  return convert == nullptr || handle == nullptr ? nullptr
                                                 : convert(*static_cast<const int*>(handle));
}
inline MPI_Win window_of_fortran(const void* handle) {
  static const auto convert = find_in_mpi_as<MPI_Win (*)(int)>("PMPI_Win_f2c");
  return convert == nullptr || handle == nullptr ? nullptr
                                                 : convert(*static_cast<const int*>(handle));
}

inline int fortran_result(const void* error) {
  return error == nullptr ? MPI_SUCCESS : *static_cast<const int*>(error);
}
inline std::uint32_t fortran_flag(const void* flag) {
  return flag == nullptr ? ~0u : *static_cast<const int*>(flag) != 0;
}

}  // namespace fathom::profiler::traced
