// SPDX-License-Identifier: BSD-3-Clause
// Looks a name up in every object that the process has loaded, also where dlsym does not look: in
// those that were loaded privately (dlopen with RTLD_LOCAL), as the modules of interpreters are.
//
// It reads the objects' hash tables itself. The loader would have to be asked for a handle of each,
// and dlopen(RTLD_NOLOAD) is not harmless: while a process ends, it runs the constructors of what
// has ended already.
//
// Threading: any thread, at any time; no memory is taken.
#pragma once

namespace fathom::profiler {

// The first definition outside this library, or nullptr.
void* find_in_any_object(const char* name);

}  // namespace fathom::profiler
