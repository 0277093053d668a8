// SPDX-License-Identifier: BSD-3-Clause
// One profiled run of this process: what the wrappers call when MPI begins and ends.
//
// MPI may begin and end several times, with MPI_Init and MPI_Finalize and with any number of
// sessions (MPI 4.0, section 11.3). Counting starts with the first thing that gives the program a
// communicator: MPI_Init, or a communicator made from the groups of a session. It stops when
// MPI_Finalize or the last MPI_Session_finalize has ended MPI, and goes on when MPI begins again.
//
// A run that begins with MPI_Init and ends with MPI_Finalize is gathered there: rank 0 writes the
// profile. With sessions there may be no communicator of all processes, and no moment at which all
// are still there, so each process then leaves its rows in a file, as after MPI_Abort, and `fathom`
// puts them together. Rejected: a communicator of all processes made by Fathom, for which a process
// that opens no session would keep the others waiting.
//
// When a step fails, Fathom falls back to less and the profile says so; the program never fails
// because of it.
//
// Threading: sessions may begin and end on any thread; these functions take turns, and hold nothing
// while Open MPI's own function runs.
#pragma once

#include "profiler/openmpi/mpi.h"

namespace fathom::profiler::session {

// Before MPI_Init and MPI_Session_init: prepares the choice of the PML. After MPI_Init: opens the
// tables, picks the best source that proves itself, and starts counting.
void before_init() noexcept;
void after_init(bool succeeded) noexcept;
void before_finalize() noexcept;
void before_abort(int error_code) noexcept;
// The program pauses counting, or goes on (MPI_Pcontrol). Without effect before MPI has begun.
void pause(bool is_paused) noexcept;

void after_session_init(MPI_Session made) noexcept;  // null: it failed
// The program is about to make a communicator from groups: starts counting if nothing has yet.
void before_first_communicator() noexcept;
// False if no session is known by this handle.
bool before_session_finalize(MPI_Session ended) noexcept;
// MPI_Session_finalize has failed, for a known one.
void session_stays(MPI_Session session) noexcept;

// Whether the wrappers saw MPI begin, in an Open MPI that Fathom knows.
bool saw_begin();

// At MPI_Init of an MPI library that Fathom does not know (mpi_library.h): says so, once per job.
void leave_alone() noexcept;

}  // namespace fathom::profiler::session
