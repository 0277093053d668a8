// SPDX-License-Identifier: BSD-3-Clause
// Where a process runs: the processors it may use, their socket and NUMA node, and the loaded code.
#pragma once

#include <string>

namespace fathom::profiler {

// Text lines for the trace's definitions (trace/format/format.h): affinity, socket and numa. A line
// is left out if the processors span several, or if the machine does not say.
std::string describe_place();

// One "code" line for each executable segment that is now mapped. `seen`: the loader's count of
// objects loaded so far; if it has not changed, the result is empty.
std::string describe_code(unsigned long long& seen);

}  // namespace fathom::profiler
