// SPDX-License-Identifier: BSD-3-Clause
// Starts the keeper of a flight recorder (profiler/keeper/).
//
// The program must not notice: the keeper is no child of this process (wait() would return it) and
// its start raises no SIGCHLD. It belongs to a session of its own, so what is sent to the job's
// process group does not reach it. Nothing of this process is copied, unlike by fork().
#pragma once

#include <cstdint>
#include <string>

namespace fathom::profiler {

struct KeeperPlan {
  int memory, definitions;  // descriptors that it inherits
  std::uint32_t job, rank;
  std::string run;  // the folder that it writes to
};

// Returns when the keeper watches this process. False, with errno set, if it does not within some
// seconds. Cold.
bool start_keeper(const KeeperPlan& plan);

}  // namespace fathom::profiler
