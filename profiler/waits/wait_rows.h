// SPDX-License-Identifier: BSD-3-Clause
// The waits of this process, and its part of the critical path, as rows of the profile.
//
// The path is followed when the other rows have been gathered: in the time that a token needs to go
// from one process to the next, others can still pass on rows.
#pragma once

#include <vector>

#include "profile/rows.h"
#include "profiler/counting/profiled_process.h"
#include "profiler/openmpi/gather.h"
#include "profiler/waits/path.h"
#include "profiler/waits/resolve.h"

namespace fathom::profiler {

struct WaitRows {
  std::vector<profile::WaitRow> waits;
  std::vector<profile::WindowRow> windows;
};

// What remains to be done once waits are known.
struct PathSearch {
  bool begins = false;   // all processes of the world look for the path, or none
  bool is_at_0 = false;  // process 0 gets all time lines, and follows the path alone
  SharedClock clock;
  FoundWaits found;
  std::vector<PathWindow> parts;
  Gather::Place last{};
};

// At MPI_Finalize, after Gather::synchronise() and WaitLog::close(), when no message of the program
// is on its way. All processes of the world take part in finding waits, or none does; the text of
// the process says why not, and how much is missing.
WaitRows find_wait_rows(ProfiledProcess& process, Gather& gather, PathSearch& search) noexcept;

}  // namespace fathom::profiler
