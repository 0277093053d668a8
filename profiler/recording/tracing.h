// SPDX-License-Identifier: BSD-3-Clause
// Trace mode, as the session sees it: cold calls at the turning points of a run.
//
// libfathom-trace.so links tracing.cpp; libfathom.so links no_tracing.cpp, where all of this does
// nothing. None of these throws or fails the program; what cannot be had is noted in the profile.
#pragma once

#include <cstdint>

#include "profiler/process/settings.h"

namespace fathom::profiler {
class Gather;
class ProfiledProcess;
}  // namespace fathom::profiler

namespace fathom::profiler::tracing {

// Before MPI_Init: what is to be recorded decides which PERUSE events are asked for.
void prepare(const Settings& settings) noexcept;

// The process is ready: makes the files, writes the definitions and starts to record.
void open(ProfiledProcess& process, Gather& gather) noexcept;

// A communicator became known, or known to the program: its row in the registry may say more than
// before.
void communicator_known(std::uint32_t kind) noexcept;

// MPI_Comm_set_name gave it a name.
void communicator_renamed(const void* comm) noexcept;

// The program entered (0: left all) a phase; `name` is null where it was defined before.
void phase_begun(std::uint32_t number, const char* name) noexcept;
void phase_ended(std::uint32_t number, std::uint32_t outer) noexcept;

void paused(bool is_paused) noexcept;

// A blocking collective of the program on MPI_COMM_WORLD has ended: a moment to measure clocks
// (clock_sync.h).
void world_collective_ended() noexcept;

// At MPI_Finalize, while messages can still be sent.
void before_close() noexcept;

// Ends the recording and completes the files. Counting has stopped; no other thread is inside MPI.
void finish(ProfiledProcess& process) noexcept;

}  // namespace fathom::profiler::tracing
