// SPDX-License-Identifier: BSD-3-Clause
// The end of MPI: stop counting, and bring the rows of all processes together.
#pragma once

namespace fathom::profiler {

class Gather;
class PerformanceVariables;
class ProfiledProcess;

// None of these throws or fails the program.

// At MPI_Finalize: gathers the rows of all processes and writes RUN/profile.json.
void finish(ProfiledProcess& process, Gather& gather, PerformanceVariables& variables) noexcept;

// Where MPI ends otherwise, and nobody waits for the other processes. Everything counted so far
// stays in the tables, and counting may go on (hook_pml_again() in source_pml.h).
void stop_counting(ProfiledProcess& process) noexcept;
// Leaves the rows of this process in RUN/partial, in place of those that it left before.
void leave_rows(ProfiledProcess& process, PerformanceVariables& variables) noexcept;

}  // namespace fathom::profiler
