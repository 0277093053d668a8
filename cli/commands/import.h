// SPDX-License-Identifier: BSD-3-Clause
// `fathom import`: another profiler's output as a Fathom run.
#pragma once

#include "cli/language/subcommand.h"

namespace fathom::cli {

inline constexpr char kImportExamples[] =
    "  fathom import results.tar.gz -o r1\n"
    "  fathom import archive/traces.otf2 -o r2\n"
    "  fathom import results/ --format pfprof -o r1\n"
    "pfprof: oxton-result<rank>.json of each rank, in a folder or an archive.\n";

Action declare_import(CLI::App& app);

}  // namespace fathom::cli
