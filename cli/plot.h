// `fathom plot`: three pictures of a run, drawn by scripts/plot.py.
#pragma once

#include "cli/subcommand.h"

namespace fathom::cli {

inline constexpr char kPlotExamples[] =
    "  fathom plot r1 -o plots\n"
    "  fathom plot r1 -o plots --class MPI_Alltoall --format svg\n"
    "  fathom plot r1 -o plots --hidden\n"
    "Writes traffic (bytes by pair), messages (messages by pair) and sizes (histogram) into DIR.\n";

Action declare_plot(CLI::App& app);

}  // namespace fathom::cli
