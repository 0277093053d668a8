// SPDX-License-Identifier: BSD-3-Clause
// How long the threads of this process waited for a processor although they could have run.
#pragma once

#include <cstdint>

namespace fathom::profiler {

// Of all threads that live now, without Fathom's own, added up, since each began; in nanoseconds, as
// the kernel counts it (Linux, Documentation/scheduler/sched-stats.rst, /proc/PID/schedstat: the
// second number). 0 where the kernel does not.
std::uint64_t processor_wait_ns();

}  // namespace fathom::profiler
