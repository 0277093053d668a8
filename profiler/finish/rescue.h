// SPDX-License-Identifier: BSD-3-Clause
// When the job does not reach MPI_Finalize, each process still leaves its rows.
//
// Covers MPI_Abort; exit, quick_exit and _exit without MPI_Finalize; and the signals that end a
// process. A handler is installed only where the program has none of its own (the default action,
// or the stack tracer of Open MPI or gfortran). It writes the rows and then lets the signal do what
// it would have done; after a SIGTERM from mpirun it waits half a second first, so that the end of
// one process does not cut short what its neighbours write. SIGKILL cannot be caught; what that
// process sent and received is in the rows of its peers, from which `fathom` recovers it.
//
// Async-signal-safe: uses open, write, close, rename and memory prepared in advance. A child made
// by fork leaves nothing.
#pragma once

#include <cstdint>
#include <string>

#include "profile/rows.h"

namespace fathom::profiler {

// `directory` (made only when needed) receives partial/JOB.RANK.rows. Does nothing if its path is
// too long for the prepared buffer.
void arm_rescue(const std::string& directory, std::uint32_t job, std::uint32_t rank);

// From now on SIGUSR2 calls `instead`, which must be async-signal-safe, and the program goes on; but
// not where the program has an action of its own for it.
void take_user_signal(void (*instead)() noexcept);

// Restores the signal handlers; from here on no rows are left.
void disarm_rescue();

// Removes the rows that this process left when MPI ended before, because MPI has begun again: should
// it be killed now, they would pass for all that it has counted.
void take_back_rows() noexcept;

// Writes the rows now. Only the first call counts.
void rescue(profile::EndReason reason, std::uint32_t detail) noexcept;

// The same for rows already collected, of this process or of several, in one file.
bool rescue_collected(const char* rows, std::size_t size) noexcept;

}  // namespace fathom::profiler
