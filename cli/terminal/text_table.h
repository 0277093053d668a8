// SPDX-License-Identifier: BSD-3-Clause
// A table that fits the terminal: columns are as wide as their content. If they do not fit, the
// first column becomes narrower and names that are too long for it get their own line; then the last
// columns are left out, with a line that names them.
//
// Cells are UTF-8 text without control characters (units.h: printable).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/terminal/terminal.h"

namespace fathom::cli {

class TextTable {
 public:
  enum class Align { kLeft, kRight };

  // All columns first, then the rows: as many cells as columns.
  void column(const std::string& title, Align align = Align::kRight);
  void row(std::vector<std::string> cells);

  // Lines with '\n', the titles first. `where_to_find_rest` completes "columns that did not fit:
  // peers; ".
  std::string text(const Terminal& terminal, const std::string& where_to_find_rest) const;

 private:
  struct Column {
    std::string title;
    Align align;
    std::size_t width;
  };

  std::string line(const std::vector<std::string>& cells, std::size_t count,
                   std::size_t first_width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace fathom::cli
