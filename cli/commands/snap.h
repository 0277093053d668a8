// SPDX-License-Identifier: BSD-3-Clause
// `fathom snap`: the next seconds of a job that runs, or the last ones if it has a flight recorder, as
// a trace.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kSnapExamples[] =
    "  fathom snap fathom-app-20260704-120000\n"
    "  fathom snap r1 --for 5s\n"
    "With --for, a job of fathom run is recorded for so long, from its next MPI calls on. "
    "Without,\n"
    "the job must run with fathom run --flight. Each snapshot is a run of its own, RUN/snap-1 and "
    "so\n"
    "on: fathom analyze RUN/snap-1.\n";

Action declare_snap(CLI::App& app);

}  // namespace fathom::cli
