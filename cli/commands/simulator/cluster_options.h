// SPDX-License-Identifier: BSD-3-Clause
// What `fathom simulate`, `fathom place` and `fathom cluster` assume of a cluster whose description leaves it out.
#pragma once

#include <CLI/CLI.hpp>

#include "simulator/formats/cluster.h"

namespace fathom::cli {

void add_cluster_defaults(CLI::App& app, simulator::ClusterDefaults& defaults);

}  // namespace fathom::cli
