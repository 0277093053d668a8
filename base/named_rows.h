// SPDX-License-Identifier: BSD-3-Clause
// Finds a row of a registry by name.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "base/result.h"
#include "base/text.h"

namespace fathom::base {

// nullptr if no row has this name.
template <typename Row>
const Row* row_named(std::span<const Row> rows, std::string_view name) {
  const auto found = std::ranges::find_if(rows, [&](const Row& row) { return name == row.name; });
  return found == rows.end() ? nullptr : &*found;
}

// The same; the Error calls the row a `what` and suggests the nearest name, or lists all.
template <typename Row>
Result<const Row*> find_row(std::span<const Row> rows, const char* what, std::string_view name) {
  if (const Row* row = row_named(rows, name)) return row;
  std::vector<std::string> names;
  for (const Row& row : rows) names.emplace_back(row.name);
  return Error{std::string("there is no ") + what + " '" + std::string(name) + "'" +
               suggestion(name, names, "; there are " + joined(rows))};
}

}  // namespace fathom::base
