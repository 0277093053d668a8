// SPDX-License-Identifier: BSD-3-Clause
// `fathom status`: whether the job of a run still runs, and what it has recorded so far.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kStatusExamples[] =
    "  fathom status fathom-app-20260704-120000\n"
    "  fathom status r1 --json\n"
    "The exit code is 0 whatever the state is; 1 if there is no such run.\n";

Action declare_status(CLI::App& app);

}  // namespace fathom::cli
