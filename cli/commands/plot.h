// SPDX-License-Identifier: BSD-3-Clause
// `fathom plot`: pictures of a run, drawn by scripts/plot.py with python/fathom/plots/.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kPlotExamples[] =
    "  fathom plot r1 -o plots\n"
    "  fathom plot r1 -o plots --classes MPI_Alltoall --format svg\n"
    "  fathom plot r1 -o plots --hidden\n"
    "  fathom plot r1 -o plots --from 1.25s --to 1.26s\n"
    "  fathom compare old-* --with new-* -o change.json; fathom plot change.json -o plots\n"
    "  fathom place r1 --cluster torus:dims=4,4 -o placed.json; fathom plot placed.json -o plots\n"
    "Writes into DIR: traffic (bytes by pair), messages (messages by pair), sizes (histogram, by "
    "messages and bytes).\n"
    "Of a run with times also calls (time by MPI function), calls-by-rank (the same of each rank), "
    "ranks (computing,\n"
    "waiting, MPI), waits (who waited for whom) and path (which ranks the critical path runs "
    "through).\n"
    "Of a traced run also timeline (all ranks from MPI_Init to MPI_Finalize, and a part in detail: "
    "--from and --to,\n"
    "or inside the longest phase) and time-profile (functions over time).\n"
    "Of a simulation: links-N (load of all links of run N, the hottest named), network-links-N "
    "(with "
    "--graphml),\n"
    "utilisation-N (links over time) and, of several runs, combinations (the best one marked).\n";

Action declare_plot(CLI::App& app);

}  // namespace fathom::cli
