// SPDX-License-Identifier: BSD-3-Clause
// When the job does not reach MPI_Finalize: each process still leaves its rows.
//
// Covers MPI_Abort, exit, quick_exit and _exit without MPI_Finalize, and the signals that end a
// process: a handler is installed only where the program has none (the default action, or the stack
// tracer of Open MPI or gfortran), writes the rows, and lets the signal do what it would have done;
// after a SIGTERM from mpirun half a second later, so that no process's end cuts short what its
// neighbours write. SIGKILL cannot be seen; what that process sent and received stands in the rows
// of its peers, and `fathom` takes it from there.
//
// Async-signal-safe: open, write, close, rename and memory that is ready. A child made by fork
// leaves nothing.
#pragma once

#include <cstdint>
#include <string>

#include "profile/rows.h"

namespace fathom::profiler {

// `directory` (made only when it is needed) receives JOB.RANK.rows. Does nothing if `directory` is
// too long for the buffer that is kept ready.
void arm_rescue(const std::string& directory, std::uint32_t job, std::uint32_t rank);

// Signal handlers back to what they were; nothing is left behind from here on.
void disarm_rescue();

// Leaves the rows now, once: the first reason counts.
void rescue(profile::EndReason reason, std::uint32_t detail) noexcept;

// The same for rows that are already collected (several processes' rows in one file).
bool rescue_collected(const char* rows, std::size_t size) noexcept;

}  // namespace fathom::profiler
