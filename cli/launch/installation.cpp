// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/installation.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/launcher.h"
#include "cli/launch/build_paths.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraries[] = {"libfathom-count.so", "libfathom.so", "libfathom-trace.so"};
constexpr char kPlotScript[] = "plot.py";
constexpr char kOpenMpiScript[] = "openmpi.sh";

fs::path own_folder() {
  std::error_code failed;
  return fs::read_symlink("/proc/self/exe", failed).parent_path();
}

// The source tree, if this is a build folder; empty if installed.
fs::path source_root() {
  std::string line;
  std::ifstream file(own_folder() / kSourceRootFile);
  std::getline(file, line);
  return line;
}

base::Result<std::string> first_of(const std::vector<fs::path>& candidates, const std::string& what,
                                   const std::string& remedy) {
  std::error_code failed;
  for (const fs::path& path : candidates) {
    if (fs::is_regular_file(path, failed)) return fs::weakly_canonical(path, failed).string();
  }
  return base::Error{"cannot find " + what + " (looked for " +
                     candidates.front().lexically_normal().string() + "); " + remedy};
}

// A library of this build, or of an installation, which has no scripts that build it.
base::Result<std::string> find_beside(const char* built_in, const std::string& name,
                                      const std::string& what, const std::string& otherwise = "") {
  const bool installed = source_root().empty();
  return first_of(
      {own_folder() / (installed ? kInstalledLibraries : built_in) / name}, what + ", " + name,
      (installed ? "install Fathom again" : "build it with scripts/setup.sh") + otherwise);
}

base::Result<std::string> find_script(const std::string& name, const std::string& what) {
  if (const auto named = base::process_environment("FATHOM_SCRIPTS")) {
    return first_of({fs::path(*named) / name}, name + " in the folder that FATHOM_SCRIPTS names",
                    "set it to Fathom's scripts folder, or unset it");
  }
  const fs::path source = source_root();
  const fs::path scripts = source.empty() ? own_folder() / kInstalledScripts : source / "scripts";
  return first_of({scripts / name}, "the " + what + " " + name,
                  "set FATHOM_SCRIPTS to Fathom's scripts folder");
}

}  // namespace

base::Result<std::string> find_library(Library library) {
  if (const auto named = base::process_environment("FATHOM_LIBRARY")) {
    return first_of({fs::absolute(*named)}, "the library that FATHOM_LIBRARY names",
                    "set it to the path of libfathom.so, or unset it");
  }
  return find_beside("../profiler", kLibraries[static_cast<int>(library)],
                     "the library to load into the ranks", " or set FATHOM_LIBRARY to its path");
}

base::Result<std::string> find_mpi_library() {
  return find_beside("../analysis/engine/mpi", "libfathom-mpi.so",
                     "the library for analysis with MPI", ", or run without mpirun");
}

base::Result<std::string> find_overlay_library() {
  return find_beside("../profiler", "libfathom-overlay.so", "the library that loads PERUSE");
}

base::Result<std::string> find_plot_script() { return find_script(kPlotScript, "plotting script"); }

base::Result<std::string> find_openmpi_script() {
  return find_script(kOpenMpiScript, "script that builds Open MPI");
}

std::string pages_folder() {
  if (const auto named = base::process_environment("FATHOM_PAGES")) return *named;
  std::error_code failed;
  const bool in_build = !source_root().empty();
  const fs::path folder =
      in_build ? fs::path("../view/page/view") : fs::path(kInstalledScripts) / "view";
  return fs::weakly_canonical(own_folder() / folder, failed).string();
}

std::string python() {
  return base::process_environment("FATHOM_PYTHON").value_or(kPythonInterpreter);
}

std::string python_path() {
  std::error_code failed;
  const bool in_build = !source_root().empty();
  return fs::weakly_canonical(own_folder() / (in_build ? "../python" : kInstalledPython), failed)
      .string();
}

}  // namespace fathom::cli
