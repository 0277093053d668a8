// SPDX-License-Identifier: BSD-3-Clause
// What an analysis returns besides findings: figures (name and value) and tables of columns.
//
// An analysis computes typed structs and lays them out here once; the JSON (results_writer.h) and
// Python's DataFrames follow from that. The columns of a table have equal length. Names are
// snake_case and contain the unit: "bytes", "seconds", "from_s".
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace fathom::analysis {

using Value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

struct Figure {
  std::string name;
  Value value;
};

// The last kind holds a list per row: the ranks of a pattern, the extents of a grid.
using Column =
    std::variant<std::vector<std::int64_t>, std::vector<std::uint64_t>, std::vector<double>,
                 std::vector<std::string>, std::vector<std::vector<std::int64_t>>>;

struct NamedColumn {
  std::string name;
  Column values;
};

struct Table {
  std::string name;
  std::vector<NamedColumn> columns;
};

struct Section {
  std::vector<Figure> figures;
  std::vector<Table> tables;

  void figure(std::string name, Value value) {
    figures.push_back({std::move(name), std::move(value)});
  }
  Table& table(std::string name) {
    tables.push_back({std::move(name), {}});
    return tables.back();
  }
};

// The column of `of(row)` over `rows`, with the type that it returns.
template <typename Rows, typename Of>
void add_column(Table& table, std::string name, const Rows& rows, Of of) {
  std::vector<std::decay_t<decltype(of(*rows.begin()))>> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(of(row));
  table.columns.push_back({std::move(name), std::move(values)});
}

}  // namespace fathom::analysis
