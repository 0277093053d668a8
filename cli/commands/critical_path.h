// SPDX-License-Identifier: BSD-3-Clause
// `fathom critical-path`: what makes up a job's run time, and the cost of its costliest paths.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kCriticalPathExamples[] =
    "  fathom critical-path r1\n"
    "  fathom run --trace --then critical-path -o r1 -- mpirun -n 4 ./app\n"
    "  fathom critical-path r1 -o path.json\n"
    "Without a trace there is no slack and no list of stretches.\n";

Action declare_critical_path(CLI::App& app);

}  // namespace fathom::cli
