// SPDX-License-Identifier: BSD-3-Clause
// Which MPI library the program uses, where it can be found, and what of it Fathom uses.
//
// Nothing is linked: the library is preloaded into processes that may never use MPI, or load it
// late and privately (dlopen with RTLD_LOCAL, as Python modules do). Everything is looked up by
// name, on first use. Only Open MPI of the release series whose structures Fathom reads is ever
// looked into ("known"). In a process with any other MPI, every entry point passes its call on to
// next_definition() and nothing else.
//
// Threading: any thread, at any time.
#pragma once

#include <cstddef>
#include <string>

namespace fathom::profiler {

// Whether the process has loaded an MPI library by now. What holds once there is one holds to the
// end.
bool mpi_is_loaded();

// What that library says it is: "Open MPI v4.1.4", "MPICH Version: 4.0.2". Empty if there is none,
// or one that does not say.
std::string mpi_library_name();

// Whether it is an Open MPI that is known.
bool open_mpi_is_known();

// A function of the program's Open MPI, or nullptr if its MPI is none that is known, or has no such
// name.
void* find_in_mpi(const char* name);

// A variable of it, or nullptr. Not the same search: an executable may hold its own copy of a
// variable (a copy relocation of ompi_mpi_comm_world), which then is the one that everybody uses.
void* find_variable_in_mpi(const char* name);

// The next definition of an MPI function behind this library: another preloaded tool's, or nullptr
// where only the MPI library itself follows. `name` begins with MPI_.
void* find_other_tool(const char* name);

// What the program would call by this name (of C or Fortran) without this library: another tool's
// or an MPI library's, of whatever kind; nullptr if there is none.
void* next_definition(const char* name);

// The file of the program's Open MPI; empty if its MPI is none that is known.
std::string mpi_library_path();

template <typename F>
F find_in_mpi_as(const char* name) {
  return reinterpret_cast<F>(find_in_mpi(name));
}

}  // namespace fathom::profiler
