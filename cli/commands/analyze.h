// SPDX-License-Identifier: BSD-3-Clause
// `fathom analyze`: what costs a run time, ranked; who, where, when, and what to try.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kAnalyzeExamples[] =
    "  fathom analyze r1\n"
    "  fathom analyze r1 --only patterns,structure\n"
    "  fathom analyze r1 --from 2s --to 3s --ranks 0-7 -o window.json\n"
    "  fathom analyze r1 --json | jq '.findings[0]'\n"
    "  fathom analyze r1 --what-if 'rank 3 : 0.8'\n"
    "  mpirun -n 8 fathom analyze r1\n"
    "  fathom run --then analyze -o r1 -- mpirun -n 4 ./app\n"
    "RUN is a run directory or a profile.json. All results are written to RUN/analysis.json.\n";

Action declare_analyze(CLI::App& app);

}  // namespace fathom::cli
