// SPDX-License-Identifier: BSD-3-Clause
// What an analysis is: a function from an Input to an Outcome, with a row in analysis/registry.cpp.
#pragma once

#include <string>
#include <vector>

#include "analysis/results/finding.h"
#include "analysis/results/section.h"
#include "analysis/scope/input.h"
#include "base/result.h"

namespace fathom::analysis {

struct Outcome {
  Section section;
  std::vector<Finding> findings;  // in any order
  std::vector<std::string>
      limits;  // sentences: what was left out, and what this means for the result
};

enum class Needs {
  kProfile,
  kTrace,
  kTimes,  // a trace, or a profile with the times of calls
  kWaits,  // a trace, or a profile that knows its waits
  kPath,   // a trace, or a profile with a critical path
};

struct Row {
  const char* name;  // also its key in analysis.json and its name in Python
  const char* help;  // one line
  Needs needs;       // without these the analysis does not run
  bool by_default;   // part of the default set, which runs if none is named
  base::Result<Outcome> (*run)(const Input& input);
};

}  // namespace fathom::analysis
