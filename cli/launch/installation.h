// SPDX-License-Identifier: BSD-3-Clause
// Where the parts of Fathom lie beside this executable, in a build folder or installed.
#pragma once

#include <string>

#include "base/result.h"

namespace fathom::cli {

// The library to preload, as an absolute path: the one that counts, or the one that also traces.
// FATHOM_LIBRARY names another one.
base::Result<std::string> find_library(bool traces);

// The library that speaks MPI for the tool itself, when several of its processes work together.
base::Result<std::string> find_mpi_library();

// The plotting script. FATHOM_SCRIPTS names another folder to look in.
base::Result<std::string> find_plot_script();

// The Python that has matplotlib: FATHOM_PYTHON, else Debian's.
std::string python();

}  // namespace fathom::cli
