// SPDX-License-Identifier: BSD-3-Clause
// Runs analyses over one run and collects their results.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/registry.h"

namespace fathom::analysis {

struct NamedSection {
  std::string name;  // of the analysis
  Section section;
};

struct Results {
  std::string application;
  std::int64_t ranks = 0;
  double seconds = 0;            // of the trace in the scope's window, else of the run; 0: unknown
  double all_ranks_seconds = 0;  // of all chosen ranks together, the base of shares; 0: unknown
  double phase_share = Thresholds{}.phase_share;  // as it was asked for
  Scope scope;
  std::vector<Finding> findings;       // costliest first
  std::vector<NamedSection> sections;  // in the order in which the analyses were named
  std::vector<std::string> warnings;   // sentences: what makes all results doubtful
  std::vector<std::string> limits;     // sentences: assumptions of the results, and what was left
                                       // out
  std::map<std::int64_t, std::string> communicators;  // by id: those of the findings, for people
  std::vector<std::string> skipped;  // analyses that need something the run does not have
};

// The rows that run by default on such an input.
std::vector<const Row*> default_analyses(const Input& input);

bool can_run(const Row& row, const Input& input);

// Why it cannot, in a sentence that says what to record.
std::string what_is_missing(const Row& row, const Input& input);

// More ranks are refused: some analyses keep numbers for each.
inline constexpr std::int64_t kMostRanks = 1 << 24;

// Rows that cannot run are skipped and listed. The limits say what is missing in the trace;
// findings that involve a rank with missing data are less certain (trace_limits.h). The first
// analysis that fails ends the run with its Error.
base::Result<Results> run_analyses(std::span<const Row* const> rows, const Input& input);

}  // namespace fathom::analysis
