// SPDX-License-Identifier: BSD-3-Clause
// Finds the parts of Fathom next to this executable, in a build folder or installed.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom::cli {

// What a job is profiled with: each library does what the one before it does, and more.
enum class Library { kCounts, kTimes, kTraces };

// Absolute path of the library to preload. FATHOM_LIBRARY overrides it.
base::Result<std::string> find_library(Library library);

// The library that provides MPI to the tool itself, for several of its processes working together.
base::Result<std::string> find_mpi_library();

// The library with which ranks use an overlay (cli/launch/overlay.h).
base::Result<std::string> find_overlay_library();

// The plotting script, and the one that builds Open MPI. FATHOM_SCRIPTS overrides the folder.
base::Result<std::string> find_plot_script();
base::Result<std::string> find_openmpi_script();

// The folder of the viewer's pages. FATHOM_PAGES overrides it.
std::string pages_folder();

// The Python that draws: FATHOM_PYTHON, else the one that the Python package was built for.
std::string python();

// What PYTHONPATH needs for `import fathom`.
std::string python_path();

}  // namespace fathom::cli
