// SPDX-License-Identifier: BSD-3-Clause
// Chooses the source that counts: the best of the requested ones that proves itself at start-up.
//
// Each candidate counts known messages from this process to itself (self_check.h). If it miscounts,
// the next one is tried, and the profile says why (steps_down).
#pragma once

#include <string>

#include "profiler/counting/profiled_process.h"
#include "profiler/openmpi/mpi.h"

namespace fathom::profiler {

// `self`: a communicator of this process alone. `chosen_pml`: the PML that the user or the site
// asked for; empty if none. The PML must be hooked and the process active. `finds_waits`: requests
// are watched even where PERUSE counts. `has_world`: there is an MPI_COMM_WORLD. False if no source
// works; `process` then has none.
bool choose_source(ProfiledProcess& process, MPI_Comm self, const std::string& chosen_pml,
                   bool finds_waits, bool has_world);

// The program is about to free this request: the source may have to watch it from now on.
void request_freed(ProfiledProcess& process, const MPI_Request& request);

}  // namespace fathom::profiler
