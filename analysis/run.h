// SPDX-License-Identifier: BSD-3-Clause
// Runs analyses over one run, and keeps what they found together.
#pragma once

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
  double seconds = 0;  // of the trace in the scope's window, else of the run; 0: not known
  double all_ranks_seconds =
      0;  // that of all chosen ranks together: what shares are of; 0: not known
  Scope scope;
  std::vector<Finding> findings;       // most costly first
  std::vector<NamedSection> sections;  // in the order in which the analyses were named
  std::vector<std::string> limits;     // sentences: what the results rest on, and what was left out
  std::vector<std::string> skipped;  // names of analyses that would need what the run does not have
};

// The rows that run by default on such an input.
std::vector<const Row*> default_analyses(const Input& input);

bool can_run(const Row& row, const Input& input);

// Rows that cannot run are skipped and named. What is missing of the trace is said, and findings
// with a rank of which something is missing are less sure (trace_limits.h). The first analysis that
// fails ends it with its Error.
base::Result<Results> run_analyses(std::span<const Row* const> rows, const Input& input);

}  // namespace fathom::analysis
