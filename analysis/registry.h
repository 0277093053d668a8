// SPDX-License-Identifier: BSD-3-Clause
// Every analysis: one row each. docs/adding-an-analysis.md walks through one.
#pragma once

#include <span>
#include <string_view>

#include "analysis/results/analysis.h"
#include "base/result.h"

namespace fathom::analysis {

std::span<const Row> all_analyses();

// An Error lists the known names.
base::Result<const Row*> find_analysis(std::string_view name);

}  // namespace fathom::analysis
