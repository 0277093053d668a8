// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/clocks/job_clocks.h"

#include <vector>

#include "profiler/clocks/clock_sync.h"
#include "profiler/clocks/moment.h"

namespace fathom::profiler {
namespace {

// Never destroyed: threads of the program may outlive everything else.
struct State {
  ClockSync sync;
  std::vector<trace::ClockRow> rows;  // the first, and each measurement
};
State& state() {
  static auto* state = new State;
  return *state;
}

}  // namespace

trace::ClockRow JobClocks::now() { return moment_now(); }

trace::ClockRow JobClocks::measured_now() {
  trace::ClockRow row = now();
  state().sync.complete(row);
  return row;
}

void JobClocks::open(Gather& gather, int rank, int size) noexcept try {
  state().sync.open(gather, rank, size);
  if (state().sync.needed()) state().sync.measure();
  state().rows.push_back(measured_now());
} catch (...) {
}

void JobClocks::measure() noexcept try {
  if (!state().sync.measure()) return;
  const trace::ClockRow row = measured_now();
  state().rows.push_back(row);
  if (observer_ != nullptr) observer_(row);
} catch (...) {
}

void JobClocks::world_collective_ended() noexcept {
  if (state().sync.needed() && state().sync.is_due()) measure();
}

void JobClocks::before_close() noexcept try {
  if (state().sync.needed()) {
    measure();
  } else {
    state().rows.push_back(now());
  }
} catch (...) {
}

bool JobClocks::are_known() {
  if (!state().sync.needed()) return true;
  for (const trace::ClockRow& row : state().rows)
    if (row.reference_ns == 0) return false;
  return state().rows.size() >= 2;
}

SharedClock JobClocks::shared() {
  SharedClock clock;
  for (const trace::ClockRow& row : state().rows) {
    const bool across_hosts = state().sync.needed();
    clock.add(row.ticks, across_hosts ? row.reference_ns : row.monotonic_ns,
              across_hosts ? row.uncertainty_ns : 0);
  }
  return clock;
}

}  // namespace fathom::profiler
