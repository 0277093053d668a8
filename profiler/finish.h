// MPI_Finalize: gather the rows of all processes, write RUN/profile.json, stop counting.
#pragma once

namespace fathom::profiler {

class Session;

// Never throws and never fails the program.
void finish(Session& session) noexcept;

}  // namespace fathom::profiler
