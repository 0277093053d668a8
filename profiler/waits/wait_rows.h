// SPDX-License-Identifier: BSD-3-Clause
// The waits of this process, and its part of the critical path, as rows of the profile.
#pragma once

#include <vector>

#include "profile/rows.h"
#include "profiler/counting/profiled_process.h"
#include "profiler/openmpi/gather.h"

namespace fathom::profiler {

struct WaitRows {
  std::vector<profile::WaitRow> waits;
  std::vector<profile::PathRow> path;
  std::vector<profile::WindowRow> windows;
};

// At MPI_Finalize, after Gather::synchronise() and WaitLog::close(), when no message of the program
// is on its way. All processes of the world take part in finding waits, or none does; the text of
// the process says why not, and how much is missing.
WaitRows find_wait_rows(ProfiledProcess& process, Gather& gather) noexcept;

}  // namespace fathom::profiler
