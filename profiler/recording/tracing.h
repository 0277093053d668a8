// SPDX-License-Identifier: BSD-3-Clause
// Trace mode as the session uses it: cold calls at the turning points of a run.
//
// libfathom-trace.so links tracing.cpp; libfathom.so links no_tracing.cpp, where all of these do
// nothing. None of them throws or fails the program; the profile notes what could not be done.
#pragma once

#include <cstdint>

#include "profiler/process/settings.h"

namespace fathom::profiler {
class ProfiledProcess;
}  // namespace fathom::profiler

namespace fathom::profiler::tracing {

// Before MPI_Init: the settings decide which PERUSE events to subscribe to.
void prepare(const Settings& settings) noexcept;

// Whether traces are wanted, which need the clocks of the job (clocks/job_clocks.h).
bool needs_clocks() noexcept;

// The process is ready: makes the files, writes the definitions and starts recording.
void open(ProfiledProcess& process) noexcept;

// A communicator became known to Fathom or visible to the program: its row in the registry may have
// gained facts.
void communicator_known(std::uint32_t kind) noexcept;

// MPI_Comm_set_name gave it a name.
void communicator_renamed(const void* comm) noexcept;

// The program entered a phase, or left one for `outer` (0: all); `name` is null if already defined.
void phase_begun(std::uint32_t number, const char* name) noexcept;
void phase_ended(std::uint32_t number, std::uint32_t outer) noexcept;

void paused(bool is_paused) noexcept;

// What SIGUSR2 is to do where the program has no use for it: with a flight recorder, ask for a
// snapshot. Null: nothing. Async-signal-safe.
using UserSignal = void (*)() noexcept;
UserSignal user_signal() noexcept;

// Ends the recording and completes the files. Counting has stopped; no other thread is inside MPI.
// `inside_finalize`: the program is, and the trace gets the end of that call.
void finish(ProfiledProcess& process, bool inside_finalize) noexcept;

}  // namespace fathom::profiler::tracing
