// SPDX-License-Identifier: BSD-3-Clause
// Where a process runs: processors it may use, their socket and NUMA node, and the code that is
// loaded.
#pragma once

#include <string>

namespace fathom::profiler {

// Text lines for the trace's definitions (trace/format/format.h): affinity, socket and numa (left out
// where the processors lie in several, or the machine does not say).
std::string describe_place();

// One "code" line for each executable segment that is mapped now; `seen` is the loader's count of
// objects loaded so far: unchanged, the result is empty.
std::string describe_code(unsigned long long& seen);

}  // namespace fathom::profiler
