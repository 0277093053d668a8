// SPDX-License-Identifier: BSD-3-Clause
// `fathom plot`: pictures of a run, drawn by scripts/plot.py.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kPlotExamples[] =
    "  fathom plot r1 -o plots\n"
    "  fathom plot r1 -o plots --class MPI_Alltoall --format svg\n"
    "  fathom plot r1 -o plots --hidden\n"
    "  fathom plot r1 -o plots --from 1.25s --to 1.26s\n"
    "Writes traffic (bytes by pair), messages (messages by pair), sizes (histogram) and, of a "
    "traced run, timeline\n"
    "(calls and messages of the window, or of some thousand events in the middle) into DIR.\n";

Action declare_plot(CLI::App& app);

}  // namespace fathom::cli
