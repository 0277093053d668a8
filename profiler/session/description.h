// SPDX-License-Identifier: BSD-3-Clause
// What the profile says of this process and its run beside counts, and where the run's folder is.
#pragma once

#include <string>

#include "profiler/counting/profiled_process.h"

namespace fathom::profiler::session {

// How the PML of the run was chosen.
struct ChosenPml {
  std::string by_settings;        // the value of Open MPI's parameter; empty: Open MPI chose
  bool forced_by_fathom = false;  // because only pml/ob1 has PERUSE
};

void describe_process(ProfiledProcess& process, const ChosenPml& pml);

// The intercommunicator to the processes that spawned this world; null if there is none.
const void* parent_comm();

// The absolute path of the folder for this job's results (run_directory.h).
std::string name_run_directory(ProfiledProcess& process);

}  // namespace fathom::profiler::session
