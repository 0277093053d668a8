// SPDX-License-Identifier: BSD-3-Clause
// `fathom simulate`: the load that a job would put on the links of a given network.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kSimulateExamples[] =
    "  fathom simulate --cluster 'xgft:m=2,2,2;w=1,2,2;slots=2' --job RUN --placement cyclic \\\n"
    "                  --routing dmodk,greedy-max -o results\n"
    "  fathom simulate --cluster 'torus:dims=4,4' --job docs/examples/halo.json --model flow -o "
    "times\n"
    "  fathom simulate docs/examples/scenario.yml -o sim\n"
    "  fathom simulate --compare A B\n"
    "  fathom simulate --list\n";

Action declare_simulate(CLI::App& app);

}  // namespace fathom::cli
