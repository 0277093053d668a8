// SPDX-License-Identifier: BSD-3-Clause
// Reports, when a process ends, that it used an Open MPI known to Fathom but that none of its calls
// reached the wrappers.
//
// A plug-in loaded with RTLD_DEEPBIND finds MPI in the libraries that it brings, and a program that
// takes functions from dlopen's handle (as Julia's MPI.jl does) finds them in libmpi; both searches
// skip the preloaded libraries. Nothing can be counted then, but the user can learn why.
#include <unistd.h>

#include <cstdio>

#include "profiler/openmpi/mpi_library.h"
#include "profiler/process/settings.h"
#include "profiler/session/session.h"

namespace fathom::profiler {
namespace {

const pid_t loaded_in = getpid();

// Still true after MPI_Finalize. Opens no handle of libmpi, for the reason in loaded_symbols.h.
bool known_mpi_was_initialized() {
  const auto initialized =
      open_mpi_is_known() ? reinterpret_cast<int (*)(int*)>(next_definition("PMPI_Initialized"))
                          : nullptr;
  int flag = 0;
  return initialized != nullptr && initialized(&flag) == 0 && flag != 0;
}

constexpr char kBypassed[] =
    "fathom: this program calls MPI past preloaded libraries (it loads libmpi with RTLD_DEEPBIND, "
    "or takes functions from its handle); nothing is profiled. Link it with MPI, or take them from "
    "RTLD_DEFAULT\n";
__attribute__((destructor)) void say_if_bypassed() noexcept try {
  if (getpid() != loaded_in || session::saw_begin() || !known_mpi_was_initialized()) return;
  const Settings settings = read_settings(".");
  if (settings.disabled || settings.quiet || !speaks_for_the_job()) return;
  std::fputs(kBypassed, stderr);
} catch (...) {
}

}  // namespace
}  // namespace fathom::profiler
