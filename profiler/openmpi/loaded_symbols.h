// SPDX-License-Identifier: BSD-3-Clause
// Looks a name up in every object that the process has loaded, including those that dlsym skips:
// objects loaded privately (dlopen with RTLD_LOCAL), as interpreters load their modules.
//
// Reads the objects' hash tables itself. Using the loader would need a handle of each object, and
// dlopen(RTLD_NOLOAD) is not harmless: while a process ends, it runs the constructors of objects
// that have already been finalized.
//
#pragma once

namespace fathom::profiler {

// The first definition outside this library, or nullptr. Any thread may ask at any time; allocates
// nothing.
void* find_in_any_object(const char* name);

// Takes out of this library's symbol table the MPI functions that no other object defines: a program
// that asks with dlsym whether its MPI has a function, or calls one that it lacks, is answered as
// without this library. (A weak reference is bound when the program is loaded, before this can be
// called.) Does nothing while no MPI library is loaded, after it has done its work, without memory,
// or if the table cannot be written. Not for several threads at once.
void hide_functions_of_no_mpi() noexcept;

}  // namespace fathom::profiler
