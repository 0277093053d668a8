// SPDX-License-Identifier: BSD-3-Clause
// The report as a page of text: at most 100 columns, and 40 lines unless more is requested.
#pragma once

#include <string>

#include "cli/pages/run_summary.h"
#include "cli/terminal/terminal.h"

namespace fathom::cli {

std::string report_text(const RunSummary& summary, const Terminal& terminal);

}  // namespace fathom::cli
