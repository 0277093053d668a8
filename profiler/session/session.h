// SPDX-License-Identifier: BSD-3-Clause
// One profiled run of this process, from MPI_Init to MPI_Finalize: what the wrappers call.
//
// before_init() reads the settings and prepares the choice of the PML; after_init() opens the
// tables, picks the best source that proves itself, and starts counting; before_finalize() gathers,
// writes and stops. When a step fails, Fathom falls back to less and the profile says so; the
// program never fails because of it.
#pragma once

namespace fathom::profiler::session {

void before_init() noexcept;
void after_init(bool succeeded) noexcept;
void before_finalize() noexcept;
void before_abort(int error_code) noexcept;

// Whether MPI_Init of an Open MPI that Fathom knows was called through the wrappers.
bool saw_init();

// At MPI_Init of an MPI library that Fathom does not know (mpi_library.h): says so, once per job.
void leave_alone() noexcept;

}  // namespace fathom::profiler::session
