// SPDX-License-Identifier: BSD-3-Clause
// A trace of the next seconds of a job that runs without one (`fathom snap RUN --for TIME`): asks its
// processes on this machine through their pages (live/window_pages.h), and those on other hosts through
// the run directory, at which `fathom run`, samplers and `fathom watch-host` look there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::cli {

struct TraceWindow {
  std::string job;            // its run directory
  std::string folder;         // JOB/snap-N, a run directory with a trace
  std::size_t processes = 0;  // that are in it
  std::vector<std::int64_t>
      none;                // ranks that left none: they made no MPI call, or nobody asked them
  std::string failure;     // why some rank could not record; empty: none failed
  bool was_asked = false;  // a process of it on this machine could be
};

// Whether a process of this job on this machine can be asked.
bool can_be_asked(const std::string& job);

// One window of each of these jobs, at the same time. Takes `for_ns`, and some seconds more if there are ranks on other hosts. A
// window with 0 processes leaves nothing behind. One at a time; an Error says that another window is being recorded, or
// that nothing can be written there.
base::Result<std::vector<TraceWindow>> record_windows(const std::vector<std::string>& jobs,
                                                      std::uint64_t for_ns);

}  // namespace fathom::cli
