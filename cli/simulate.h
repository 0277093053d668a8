// `fathom simulate`: what a job would put on the links of a given network.
#pragma once

#include "cli/subcommand.h"

namespace fathom::cli {

inline constexpr char kSimulateExamples[] =
    "  fathom simulate --cluster milk.graphml --job RUN --selection linear --placement block \\\n"
    "                  --routing dmodk,greedy-max -o results\n"
    "  fathom simulate --cluster milk.graphml --job cg-c-128.tar.gz --hosts milk01,milk02 -o results\n"
    "  fathom simulate scenario.yml -o results\n"
    "  fathom simulate --list\n";

Action declare_simulate(CLI::App& app);

}  // namespace fathom::cli
