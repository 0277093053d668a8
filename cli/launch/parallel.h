// SPDX-License-Identifier: BSD-3-Clause
// Several processes of the tool working together: mpirun -n P fathom …
#pragma once

#include <memory>

#include "analysis/engine/transport.h"
#include "base/result.h"

namespace fathom::cli {

// Whether this process reports for all: the first, or the only one.
bool is_first_process();

// The transport between the processes; nullptr if this one is alone. Loads MPI. An Error if the
// launcher started several processes but MPI does not connect them all.
base::Result<std::unique_ptr<analysis::Transport>> start_transport();

}  // namespace fathom::cli
