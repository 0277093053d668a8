// SPDX-License-Identifier: BSD-3-Clause
// Columns of an analysis's tables, and times in them as whole nanoseconds.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/run.h"

namespace fathom::view {

// nullptr: the analysis did not run, or has no such table.
inline const analysis::Table* find_table(const analysis::Results& results,
                                         std::string_view analysis, std::string_view name) {
  for (const analysis::NamedSection& named : results.sections) {
    if (named.name != analysis) continue;
    for (const analysis::Table& table : named.section.tables) {
      if (table.name == name) return &table;
    }
  }
  return nullptr;
}

// Empty if there is no such table or column, or it has another type.
template <typename T>
std::vector<T> column_of(const analysis::Table* table, std::string_view name) {
  if (table == nullptr) return {};
  for (const analysis::NamedColumn& column : table->columns) {
    if (column.name != name) continue;
    if (const auto* values = std::get_if<std::vector<T>>(&column.values)) return *values;
  }
  return {};
}

// Seconds in a table are nanoseconds times 1e-9, so rounding gives the nanoseconds back, up to 2^52 (52 days).
inline std::uint64_t ns_of(double seconds) {
  return seconds > 0 ? static_cast<std::uint64_t>(std::llround(seconds * 1e9)) : 0;
}

inline std::vector<std::uint64_t> ns_column(const analysis::Table* table, std::string_view name) {
  std::vector<std::uint64_t> ns;
  for (const double seconds : column_of<double>(table, name)) ns.push_back(ns_of(seconds));
  return ns;
}

}  // namespace fathom::view
