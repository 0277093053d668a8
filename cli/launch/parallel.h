// SPDX-License-Identifier: BSD-3-Clause
// Several processes of the tool that work together: mpirun -n P fathom …
#pragma once

#include <memory>

#include "analysis/engine/transport.h"
#include "base/result.h"

namespace fathom::cli {

// Whether this process speaks for all: the first, or the only one.
bool is_first_process();

// The transport between them; nullptr where this process is alone. Loads MPI. An Error where the
// launcher started several and MPI does not join them all.
base::Result<std::unique_ptr<analysis::Transport>> start_transport();

}  // namespace fathom::cli
