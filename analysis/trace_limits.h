// SPDX-License-Identifier: BSD-3-Clause
// What is missing in a run's trace, in sentences, and what this means for each finding.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "analysis/results/finding.h"
#include "trace/definitions.h"

namespace fathom::analysis {

// Ranks without a trace, cut short or with lost records; damage; what was not recorded by choice.
std::vector<std::string> limits_of_trace(const trace::Definitions& definitions);

// Ranks with missing data.
std::set<std::int64_t> incomplete_ranks(const trace::Definitions& definitions);

// Ranks whose times may be off by more than anything in the trace says.
std::set<std::int64_t> unsynchronised_ranks(const trace::Definitions& definitions);

// Halves the confidence of a finding that involves such a rank, and names the rank in its evidence
// under `what`.
void limit_finding(Finding& finding, const std::set<std::int64_t>& ranks, const char* what);

}  // namespace fathom::analysis
