// SPDX-License-Identifier: BSD-3-Clause
// Analysis results on one screen: the worst findings, each with who, where, when, the confidence,
// and what to try.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/run.h"
#include "cli/terminal/terminal.h"

namespace fathom::cli {

// `top` findings are shown in full, the others are counted. `written`: analysis.json has all
// results. `tables`: also show each analysis's tables (cli/pages/analysis_tables.h).
std::string analyze_text(const analysis::Results& results, std::size_t top,
                         const Terminal& terminal, bool written, bool tables);

}  // namespace fathom::cli
