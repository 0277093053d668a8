// MPI_Finalize: gather the rows of all processes, write RUN/profile.json, stop counting.
#pragma once

namespace fathom::profiler {

class Session;

// Rank 0 makes the run directory when the job starts, so that a job that never comes to its end has told
// that it was there. A failure is said once on stderr (unless FATHOM_LOG=quiet) and changes nothing else.
void prepare_run_directory(Session& session) noexcept;

// Never throws and never fails the program.
void finish(Session& session) noexcept;

}  // namespace fathom::profiler
