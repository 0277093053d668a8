// SPDX-License-Identifier: BSD-3-Clause
#include "cli/terminal/text_table.h"

#include <algorithm>

#include "base/text.h"
#include "cli/terminal/units.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kLeastFirst = 24;  // most names fit
constexpr std::size_t kTableGap = 2;

}  // namespace

void TextTable::column(const std::string& title, Align align) {
  columns_.push_back({title, align, columns(title)});
}

void TextTable::row(std::vector<std::string> cells) {
  for (std::size_t i = 0; i < columns_.size(); ++i)
    columns_[i].width = std::max(columns_[i].width, columns(cells[i]));
  rows_.push_back(std::move(cells));
}

std::string TextTable::line(const std::vector<std::string>& cells, std::size_t count,
                            std::size_t first_width) const {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t width = i == 0 ? first_width : columns_[i].width;
    // A name that is too long gets its own line instead of being cut, because it is what the row is about.
    if (i == 0 && columns(cells[0]) > width) {
      text = cells[0] + "\n" + std::string(width, ' ');
      continue;
    }
    if (i > 0) text += std::string(kTableGap, ' ');
    text += columns_[i].align == Align::kLeft ? left(cells[i], width) : right(cells[i], width);
  }
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string TextTable::text(const Terminal& terminal, const std::string& where_to_find_rest) const {
  if (columns_.empty()) return "";
  const std::size_t least = std::min(kLeastFirst, columns_[0].width);
  std::size_t count = 1, rest = 0;  // of the columns after the first
  while (count < columns_.size() &&
         least + rest + kTableGap + columns_[count].width <= terminal.width()) {
    rest += kTableGap + columns_[count++].width;
  }
  const std::size_t first_width =
      std::clamp(terminal.width() - std::min(rest, terminal.width()), least, columns_[0].width);
  std::vector<std::string> titles, left_out;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    if (i >= count) left_out.push_back(columns_[i].title);
  }
  std::string text = terminal.styled(Style::kHeading, line(titles, count, first_width)) + "\n";
  for (const std::vector<std::string>& cells : rows_)
    text += line(cells, count, first_width) + "\n";
  if (left_out.empty()) return text;
  const std::string note =
      "columns that did not fit: " + base::joined(left_out) + "; " + where_to_find_rest;
  for (const std::string& each : wrapped(note, terminal.width(), "")) text += each + "\n";
  return text;
}

}  // namespace fathom::cli
