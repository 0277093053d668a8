// SPDX-License-Identifier: BSD-3-Clause
// Finds the parts of Fathom next to this executable, in a build folder or installed.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom::cli {

// Absolute path of the library to preload: the one that counts, or the one that also traces.
// FATHOM_LIBRARY overrides it.
base::Result<std::string> find_library(bool traces);

// The library that provides MPI to the tool itself, for several of its processes working together.
base::Result<std::string> find_mpi_library();

// The plotting script. FATHOM_SCRIPTS overrides the folder.
base::Result<std::string> find_plot_script();

// The Python that draws: FATHOM_PYTHON, else the one that the Python package was built for.
std::string python();

// What PYTHONPATH needs for `import fathom`.
std::string python_path();

}  // namespace fathom::cli
