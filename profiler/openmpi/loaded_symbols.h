// SPDX-License-Identifier: BSD-3-Clause
// Looks a name up in every object that the process has loaded, including those that dlsym skips:
// objects loaded privately (dlopen with RTLD_LOCAL), as interpreters load their modules.
//
// Reads the objects' hash tables itself. Using the loader would need a handle of each object, and
// dlopen(RTLD_NOLOAD) is not harmless: while a process ends, it runs the constructors of objects
// that have already been finalized.
//
// Threading: any thread, at any time; allocates nothing.
#pragma once

namespace fathom::profiler {

// The first definition outside this library, or nullptr.
void* find_in_any_object(const char* name);

}  // namespace fathom::profiler
