// SPDX-License-Identifier: BSD-3-Clause
// A trace of the next seconds of a job that runs without one (`fathom snap RUN --for TIME`): asks its
// processes on this machine through their pages (live/window_pages.h), and those on other hosts through
// the run directory, at which `fathom run --live`, samplers and `fathom watch-host` look there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

struct TraceWindow {
  std::string folder;         // RUN/snap-N, a run directory with a trace
  std::size_t processes = 0;  // that are in it
  std::vector<std::int64_t>
      none;             // ranks that left none: they made no MPI call, or nobody asked them
  std::string failure;  // why some rank could not record; empty: none failed
};

// Whether a process of the run on this machine can be asked.
bool can_be_asked(const std::string& run);

// Takes `for_ns`, and some seconds more if there are ranks on other hosts. Nothing, and nothing left
// behind, if no process of the run can be asked. One at a time; an Error says that another window is
// being recorded, that there is no such run, or why all ranks left nothing.
base::Result<std::optional<TraceWindow>> record_window(const std::string& run,
                                                       std::uint64_t for_ns);

}  // namespace fathom::cli
