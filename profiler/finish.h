// MPI_Finalize: gather the rows of all processes, write RUN/profile.json, stop counting.
#pragma once

#include <string>

namespace fathom::profiler {

class Session;

// The folder and those above it; false (errno tells) if it is not there afterwards.
bool make_directories(const std::string& path);

// Rank 0 makes the run directory when the job starts, so that a job that never comes to its end has told
// that it was there. A failure is said once on stderr (unless FATHOM_LOG=quiet) and changes nothing else.
void prepare_run_directory(Session& session) noexcept;

// Never throws and never fails the program.
void finish(Session& session) noexcept;

}  // namespace fathom::profiler
