// SPDX-License-Identifier: BSD-3-Clause
// Results of analyses on one screen: the worst findings, each with who, where, when, how sure, what
// to try.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/run.h"
#include "cli/terminal/terminal.h"

namespace fathom::cli {

// `top` findings are shown whole, the others are counted. `written`: all results are in a file
// analysis.json. `tables`: also what each analysis found beside findings
// (cli/pages/analysis_tables.h).
std::string analyze_text(const analysis::Results& results, std::size_t top,
                         const Terminal& terminal, bool written, bool tables);

}  // namespace fathom::cli
