// SPDX-License-Identifier: BSD-3-Clause
// Named windows of the critical path: the functions of the library that fathom.h calls. Cold.
#include "profiler/waits/path_windows.h"
#include "profiler/calls/call_times.h"
#include "profiler/process/exported.h"

namespace fathom::profiler {

extern "C" {
FATHOM_EXPORT void fathom_library_path_start(const char* name) {
  PathWindows::start(name, CallTimes::own_rows());
}

FATHOM_EXPORT void fathom_library_path_stop(const char* name) {
  PathWindows::stop(name, CallTimes::own_rows());
}
}

}  // namespace fathom::profiler
