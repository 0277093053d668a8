// SPDX-License-Identifier: BSD-3-Clause
// MPI_Finalize: gather the rows of all processes, write RUN/profile.json, stop counting.
#pragma once

namespace fathom::profiler {

class Gather;
class PerformanceVariables;
class ProfiledProcess;

// Never throws and never fails the program.
void finish(ProfiledProcess& process, Gather& gather, PerformanceVariables& variables) noexcept;

}  // namespace fathom::profiler
