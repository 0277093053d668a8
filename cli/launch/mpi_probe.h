// SPDX-License-Identifier: BSD-3-Clause
// What an Open MPI library offers to a profiler, determined by loading it in a child process, so
// that its constructors and destructors cannot harm this one.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fathom::cli {

struct MpiFacts {
  std::string path;     // where the loader found it
  std::string version;  // first line of MPI_Get_library_version
  bool has_peruse = false;
  bool has_mca_pml = false;  // the table of send functions, whose entries the pml source replaces
};

// `library` as for dlopen: a path, or "libmpi.so.40" for what a program would load.
std::optional<MpiFacts> probe_mpi(const std::string& library);

// The libraries that a job started by `launcher` (a command word) may load: the one the loader
// finds itself, and the one of the launcher's installation. Each once.
std::vector<MpiFacts> probe_launcher(const std::string& launcher);

// The release of Open MPI that a launcher says it belongs to: "5.0.7", of the "mpirun (Open MPI)
// 5.0.7" that `mpirun --version` prints. Empty if it says anything else.
std::string launcher_release(const std::string& launcher);

// What a command word resolves to: itself if it contains a '/', else searched in PATH. Empty if not
// found.
std::string find_on_path(const std::string& command);

}  // namespace fathom::cli
