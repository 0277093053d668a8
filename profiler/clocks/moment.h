// SPDX-License-Identifier: BSD-3-Clause
// This moment by all clocks of this host. Any thread, any process of the host.
#pragma once

#include "profiler/clocks/ticks.h"
#include "trace/format/format.h"

namespace fathom::profiler {

// `reference_ns` is 0: it is known only where it was just measured, because clocks drift.
inline trace::ClockRow moment_now() {
  trace::ClockRow row{};
  std::uint64_t best = ~std::uint64_t{0};
  for (int i = 0; i < 5; ++i) {  // keep the reading that was interrupted least
    const std::uint64_t before = Ticks::now();
    const std::uint64_t monotonic = nanoseconds_of(CLOCK_MONOTONIC);
    const std::uint64_t unix_time = nanoseconds_of(CLOCK_REALTIME);
    const std::uint64_t after = Ticks::now();
    if (after - before >= best) continue;
    best = after - before;
    row.ticks = before + best / 2;
    row.monotonic_ns = monotonic;
    row.unix_ns = unix_time;
  }
  return row;
}

}  // namespace fathom::profiler
