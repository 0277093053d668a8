// SPDX-License-Identifier: BSD-3-Clause
// The report as a page of text: at most 100 columns, and 40 lines unless more is requested.
#pragma once

#include <string>

#include "cli/pages/run_summary.h"
#include "cli/terminal/terminal.h"

namespace fathom::cli {

// If calls were timed, only `all` shows the tables of traffic and the notes: else they fill the screen.
std::string report_text(const RunSummary& summary, const Terminal& terminal, bool all);

}  // namespace fathom::cli
