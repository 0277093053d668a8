// SPDX-License-Identifier: BSD-3-Clause
// A job written by hand, saved as a trace, and loaded for an analysis.
#pragma once

#include <cmath>

#include "analysis/engine/lazy_job.h"
#include "analysis/registry.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/engine/made_job.h"

namespace fathom::test {

struct Loaded {
  explicit Loaded(MadeJob& made) : trace(made.written(scratch / "run")), job(trace) {
    input.trace = &trace;
    input.job = &job;
  }
  Scratch scratch;
  trace::Trace trace;
  analysis::LazyJob job;
  analysis::Input input;
};

// A figure, as a number; a table's column.
inline double figure(const analysis::Outcome& outcome, const std::string& name) {
  for (const analysis::Figure& figure : outcome.section.figures) {
    if (figure.name != name) continue;
    if (const auto* number = std::get_if<double>(&figure.value)) return *number;
    return static_cast<double>(std::get<std::uint64_t>(figure.value));
  }
  FAIL("no figure " << name);
  return 0;
}

template <typename T>
const std::vector<T>& column(const analysis::Outcome& outcome, const std::string& table,
                             const std::string& name) {
  for (const analysis::Table& each : outcome.section.tables) {
    if (each.name != table) continue;
    for (const analysis::NamedColumn& column : each.columns) {
      if (column.name == name) return std::get<std::vector<T>>(column.values);
    }
  }
  FAIL("no column " << name << " in a table " << table);
  static const std::vector<T> none;
  return none;
}

// A column of seconds in whole nanoseconds.
inline std::vector<std::int64_t> nanoseconds(const analysis::Outcome& outcome,
                                             const std::string& table, const std::string& name) {
  std::vector<std::int64_t> rounded;
  for (const double seconds : column<double>(outcome, table, name))
    rounded.push_back(std::llround(seconds * 1e9));
  return rounded;
}

}  // namespace fathom::test
