// SPDX-License-Identifier: BSD-3-Clause
// `fathom watch-host`: what `fathom run --live` does for the ranks on its own host, for those on
// another.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kWatchHostExamples[] =
    "  srun --overlap --ntasks-per-node=1 fathom watch-host /scratch/r1 &\n"
    "  ssh node02 fathom watch-host /scratch/r1 &\n"
    "Jobs of fathom run --live do not need it: their ranks start a sampler that does the same.\n"
    "For other jobs, it passes on what fathom snap --for asks, for a minute. It ends with the\n"
    "job's ranks on this host. RUN is the folder that the job writes into.\n";

Action declare_watch_host(CLI::App& app);

}  // namespace fathom::cli
