// Where the MPI library that the program uses can be found, and what of it Fathom uses.
//
// Nothing is linked: the library is preloaded into processes that may never use MPI, or load it late
// and privately (dlopen with RTLD_LOCAL, as Python modules do). Everything is looked up by name in the
// libmpi that the process has loaded, on first use.
#pragma once

#include <cstddef>
#include <string>

namespace fathom::profiler {

// A function of the loaded libmpi, or nullptr if there is no libmpi or no such name.
void* find_in_mpi(const char* name);

// A variable of the loaded libmpi, or nullptr. Not the same search: an executable may hold its own copy
// of a variable (a copy relocation of ompi_mpi_comm_world), which then is the one that everybody uses.
void* find_variable_in_mpi(const char* name);

// The next definition of an MPI function behind this library: another preloaded tool's, or nullptr
// where only the MPI library itself follows. `name` begins with MPI_.
void* find_other_tool(const char* name);

// The file of the loaded libmpi, or empty.
std::string mpi_library_path();

template <typename F>
F find_in_mpi_as(const char* name) {
  return reinterpret_cast<F>(find_in_mpi(name));
}

}  // namespace fathom::profiler
