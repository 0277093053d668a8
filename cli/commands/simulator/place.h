// SPDX-License-Identifier: BSD-3-Clause
// `fathom place`: where the processes of a job should run.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kPlaceExamples[] =
    "  fathom place docs/examples/halo.json --cluster 'torus:dims=4,4'\n"
    "  fathom place RUN --cluster cluster.graphml --objective time --format rankfile -o RANKFILE\n"
    "  mpirun --rankfile RANKFILE ...\n"
    "  fathom place RUN --cluster cluster.graphml -o placed.json; fathom plot placed.json -o "
    "plots\n";

Action declare_place(CLI::App& app);

}  // namespace fathom::cli
