// Every analysis: one row each. docs/adding-an-analysis.md walks through one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/finding.h"
#include "analysis/input.h"
#include "analysis/section.h"
#include "base/result.h"

namespace fathom::analysis {

struct Outcome {
  Section section;
  std::vector<Finding> findings;    // in any order
  std::vector<std::string> limits;  // sentences: what was left out, and what that means for the result
};

enum class Needs { kProfile, kTrace };

struct Row {
  const char* name;  // also its key in analysis.json and its name in Python
  const char* help;  // one line
  Needs needs;       // without it the analysis is not run
  bool by_default;   // in the set that runs when none is named
  base::Result<Outcome> (*run)(const Input& input);
};

std::span<const Row> all_analyses();

// An Error lists the known names.
base::Result<const Row*> find_analysis(std::string_view name);

}  // namespace fathom::analysis
