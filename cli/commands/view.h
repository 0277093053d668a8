// SPDX-License-Identifier: BSD-3-Clause
// fathom view: shows runs in a browser.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kViewExamples[] =
    "Examples:\n"
    "  fathom view RUN                        overview, timeline, matrix, machine of a run\n"
    "  fathom view BEFORE AFTER               two runs, side by side\n"
    "  fathom view RUN --no-browser           print the address only; with ssh, also the line for\n"
    "                                         the machine that you sit at\n"
    "  fathom view RUN --bind /tmp/me.sock    on a Unix socket instead of a port\n\n"
    "Nothing is loaded from any network. Only you can open the pages: the address holds a token.\n"
    "Ctrl-C ends it.";

Action declare_view(CLI::App& app);

}  // namespace fathom::cli
