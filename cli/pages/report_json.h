// SPDX-License-Identifier: BSD-3-Clause
// The report for programs: one JSON object, schema "fathom-report/1". docs/fathom.1 lists its keys.
#pragma once

#include <string>

#include "cli/pages/run_summary.h"

namespace fathom::cli {

std::string report_json(const RunSummary& summary);

}  // namespace fathom::cli
