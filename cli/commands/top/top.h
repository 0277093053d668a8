// SPDX-License-Identifier: BSD-3-Clause
// `fathom top`: what a running job does, and who holds whom up.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr int kStuck = 4;  // --why: the job can never go on

inline constexpr char kTopExamples[] =
    "  fathom top r1\n"
    "  fathom top r1 --why\n"
    "  fathom top r1 --json -o state.json; fathom top state.json --once\n"
    "  fathom top r1 --metrics :9464\n"
    "Keys: q quits, s sorts, arrows and enter choose a rank, c a class of traffic, w the window "
    "of\n"
    "the rates, p pauses.\n"
    "The exit code of --why is 4 if the job can never go on, 0 if it moves or is only slow; 1 if\n"
    "there is no such job.\n";

Action declare_top(CLI::App& app);

}  // namespace fathom::cli
