// SPDX-License-Identifier: BSD-3-Clause
// The clocks of the job, measured from time to time (clock_sync.h), and what this process's own
// clock says in terms of that of rank 0's host.
//
// Threading: world_collective_ended() on the thread inside the collective, as clock_sync.h says;
// the others on the thread that calls MPI_Init and MPI_Finalize.
#pragma once

#include "profiler/clocks/shared_clock.h"
#include "profiler/openmpi/gather.h"
#include "trace/format/format.h"

namespace fathom::profiler {

class JobClocks {
 public:
  // After MPI_Init; all processes of the world, or none. Measures for the first time.
  static void open(Gather& gather, int rank, int size) noexcept;

  // Called with each later measurement.
  static void set_observer(void (*observer)(const trace::ClockRow&)) { observer_ = observer; }

  // A blocking collective of the program on MPI_COMM_WORLD has ended.
  static void world_collective_ended() noexcept;
  // At MPI_Finalize, while messages can still be sent.
  static void before_close() noexcept;

  // This moment by the clocks of this host; any thread. `reference_ns` is 0: it is known only where
  // it was just measured, because clocks drift.
  static trace::ClockRow now();
  // Right after a measurement, with `reference_ns` if it gave one.
  static trace::ClockRow measured_now();

  // False if the clocks of the hosts could not be compared.
  static bool are_known();
  // By this process's own clock if all run on one host.
  static SharedClock shared();

 private:
  static void measure() noexcept;
  static inline void (*observer_)(const trace::ClockRow&) = nullptr;
};

}  // namespace fathom::profiler
