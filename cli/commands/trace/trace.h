// SPDX-License-Identifier: BSD-3-Clause
// `fathom trace`: look at a trace, cut a smaller one, join several, check it against the profile.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kTraceExamples[] =
    "  fathom trace info r1\n"
    "  fathom trace print r1 --ranks 0-3 --from 1.5s --to 1.6s\n"
    "  fathom trace slice r1 --from 10s --to 12s -o r1-cut\n"
    "  fathom trace filter r1 --kinds messages --ranks 0,1 -o r1-messages\n"
    "  fathom trace merge node0/r1 node1/r1 -o r1\n"
    "  fathom trace check r1\n";

Action declare_trace(CLI::App& app);

// Its subcommands, each in its own file.
Action declare_trace_info(CLI::App& app);
Action declare_trace_print(CLI::App& app);
Action declare_trace_slice(CLI::App& app);
Action declare_trace_filter(CLI::App& app);
Action declare_trace_merge(CLI::App& app);
Action declare_trace_check(CLI::App& app);

}  // namespace fathom::cli
