// SPDX-License-Identifier: BSD-3-Clause
// Source `mpi_t`: what Open MPI's own monitoring counted, read through MPI_T performance variables.
//
// Used only on request, and with a warning in the profile: pml_monitoring does not count a
// program's persistent sends, drops peers outside MPI_COMM_WORLD, shows nothing inside collectives,
// cannot tell communicators apart, and crashes jobs that use neighbourhood collectives on
// distributed graphs (docs/exactness.md). It counts by itself, so nothing else is hooked.
#pragma once

#include <string>

namespace fathom::profiler {

class ProfiledProcess;

// Sets the parameters that load pml_monitoring. Before MPI_Init; undone by the next call.
void request_monitoring();
void take_back_monitoring_request();

// After MPI_Init. False, with a sentence in `reason`, if monitoring is not available.
bool open_monitoring(ProfiledProcess& process, std::string& reason);

// Discards what was counted so far, which was Fathom's own traffic.
void restart_monitoring();

// At MPI_Finalize, before Fathom sends again: adds what was counted since. Does nothing unless
// open_monitoring() succeeded.
void collect_monitoring(ProfiledProcess& process);

}  // namespace fathom::profiler
