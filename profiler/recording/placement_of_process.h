// SPDX-License-Identifier: BSD-3-Clause
// Where a process runs: the processors it may use, their socket and NUMA node.
#pragma once

#include <string>

namespace fathom::profiler {

// Text lines for the trace's definitions (trace/format/format.h): affinity, socket and numa. A line
// is left out if the processors span several, or if the machine does not say.
std::string describe_place();

}  // namespace fathom::profiler
