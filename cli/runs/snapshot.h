// SPDX-License-Identifier: BSD-3-Clause
// Takes a snapshot of a job that runs with a flight recorder: asks the keepers of its processes, on
// whichever hosts they are, through the run directory (trace/format/flight.h).
//
// The job itself does nothing for it, so it may hang, or be stopped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace fathom::cli {

struct Snapshot {
  std::string folder;         // RUN/snap-N, a run directory with a trace
  std::size_t processes = 0;  // that are in it
  std::size_t missing = 0;    // ranks that left none, as far as the trace says
};

// Waits `for_ns`, then for the keepers. One at a time; an Error says that another one is being taken,
// that there is no such run, or that no keeper answered.
base::Result<Snapshot> take_snapshot(const std::string& run, std::uint64_t for_ns = 0);

}  // namespace fathom::cli
