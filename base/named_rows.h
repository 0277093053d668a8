// SPDX-License-Identifier: BSD-3-Clause
// Finds a row of a registry by name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"

namespace fathom::base {

// `what`: the word for a row in the Error, which lists the known names.
template <typename Row>
Result<const Row*> find_row(std::span<const Row> rows, const char* what, std::string_view name) {
  std::string names;
  for (const Row& row : rows) {
    if (name == row.name) return &row;
    add_to_list(names, row.name);
  }
  return Error{std::string("there is no ") + what + " '" + std::string(name) + "'; there are " +
               names};
}

}  // namespace fathom::base
