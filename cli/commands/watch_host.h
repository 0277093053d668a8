// SPDX-License-Identifier: BSD-3-Clause
// `fathom watch-host`: what `fathom run --live` does for the ranks on its own host, for those on
// another.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kWatchHostExamples[] =
    "  srun --overlap --ntasks-per-node=1 fathom watch-host /scratch/r1 &\n"
    "  ssh node02 fathom watch-host /scratch/r1 &\n"
    "Jobs of fathom run --live need none of it: their ranks start what does the same. For others "
    "it\n"
    "passes fathom snap --for on, for a minute. It ends with the job's ranks on this host. RUN is "
    "the\n"
    "folder that the job writes into.\n";

Action declare_watch_host(CLI::App& app);

}  // namespace fathom::cli
