// SPDX-License-Identifier: BSD-3-Clause
// `fathom compare`: compares two runs, or N scales, of a program.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kCompareExamples[] =
    "  fathom compare before after\n"
    "  fathom compare p4 p8 p16 p32 --json\n"
    "  fathom compare old-* --with new-* --limit seconds=3%\n"
    "RUN is a run directory or a profile.json. The first is the base; growth is last over first, "
    "of\n"
    "repeats the median of the ones over that of the others.\n";

Action declare_compare(CLI::App& app);

}  // namespace fathom::cli
