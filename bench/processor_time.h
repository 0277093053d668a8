// SPDX-License-Identifier: BSD-3-Clause
// The clock for benchmarks on a machine that also runs other programs.
#pragma once

#include <ctime>

namespace fathom::bench {

// Processor time of this process so far, all threads.
inline double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace fathom::bench
