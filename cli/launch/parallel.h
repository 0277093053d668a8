// SPDX-License-Identifier: BSD-3-Clause
// Several processes of the tool that work together: mpirun -n P fathom …
#pragma once

#include <memory>

#include "analysis/engine/transport.h"
#include "base/result.h"

namespace fathom::cli {

// Whether a launcher started this process as one of several, and which it is (0 without one).
struct Launch {
  std::size_t rank = 0, size = 1;
};
Launch launch();

// The transport between them; nullptr where this process is alone. Loads MPI.
base::Result<std::unique_ptr<analysis::Transport>> start_transport();

}  // namespace fathom::cli
