// SPDX-License-Identifier: BSD-3-Clause
// Which MPI library the program uses, where to find it, and how to look names up in it.
//
// Nothing is linked: Fathom is preloaded into processes that may never use MPI, or may load it late
// and privately (dlopen with RTLD_LOCAL, as Python modules do). Everything is looked up by name, on
// first use. An Open MPI is "known" if it is of a release series whose structures Fathom reads;
// only then does Fathom look into it, and only where proved_layout.h finds them confirmed. That holds
// for both its libraries, libmpi and libmpi_abi (standard_abi.h). With any other MPI library, every
// entry point just passes its call on to next_definition().
//
// Threading: any thread, at any time.
#pragma once

#include <cstddef>
#include <string>

namespace fathom::profiler {

// Whether the process has loaded an MPI library yet. Once it has, the answers below never change.
bool mpi_is_loaded();

// The name that the library gives itself: "Open MPI v4.1.4", "MPICH Version: 4.0.2". Empty if no
// library is loaded, or if it gives none.
std::string mpi_library_name();

// Whether the library is a known Open MPI.
bool open_mpi_is_known();

// Whether its functions that the program calls are those of libmpi_abi, the standard ABI.
bool program_uses_standard_abi();

// A function of the program's Open MPI; nullptr if the MPI library is not known or lacks the name.
void* find_in_mpi(const char* name);

// A variable of it, or nullptr. The search differs: an executable may hold its own copy of a
// variable (a copy relocation of ompi_mpi_comm_world), and then everyone uses that copy.
void* find_variable_in_mpi(const char* name);

// The definition of an MPI function that follows this library's: another preloaded tool's, or
// nullptr if only the MPI library itself follows. `name` begins with MPI_.
void* find_other_tool(const char* name);

// What the program would call by this C or Fortran name without this library: a function of another
// tool or of any MPI library; nullptr if there is none.
void* next_definition(const char* name);

// The library or program that an address lies in; empty if it is in none, or null.
std::string file_of(const void* address);

// Where Open MPI is installed: the path of its lowest library, libopen-pal. (libmpi may come from an
// overlay.)
std::string open_mpi_path();

template <typename F>
F find_in_mpi_as(const char* name) {
  return reinterpret_cast<F>(find_in_mpi(name));
}
// The same of an MPI function, with its type: FATHOM_PMPI(MPI_Isend) is PMPI_Isend.
#define FATHOM_PMPI(name) ::fathom::profiler::find_in_mpi_as<decltype(&P##name)>("P" #name)

}  // namespace fathom::profiler
