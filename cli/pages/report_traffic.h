// SPDX-License-Identifier: BSD-3-Clause
// The traffic of a run, as `fathom report` shows it: in a few lines, or in tables.
#pragma once

#include "cli/pages/page_lines.h"
#include "cli/pages/run_summary.h"

namespace fathom::cli {

// What the tables begin with.
void add_traffic_lines(const RunSummary& summary, PageLines& page);

// Classes, phases, message sizes, pairs and how evenly ranks send, with blank lines between them.
void add_traffic_tables(const RunSummary& summary, PageLines& page);

}  // namespace fathom::cli
