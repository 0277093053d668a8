// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages/page_lines.h"

#include <spdlog/fmt/fmt.h>

#include <sstream>

#include "cli/terminal/units.h"

namespace fathom::cli {

std::string plural(std::uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

void PageLines::add(const std::string& line) {
  const std::size_t end = line.find_last_not_of(' ');
  lines_.push_back(line.substr(0, end + 1));
}

void PageLines::add_text(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) add(line);
}

void PageLines::wrapped(const std::string& sentence, Style style, const std::string& mark) {
  for (const std::string& line : cli::wrapped(nice(sentence), width(), mark))
    add(styled(style, line));
}

void PageLines::titled(const std::string& title, const std::string& facts) {
  const std::vector<std::string> lines = cli::wrapped(title + nice(facts), width(), "");
  add(styled(Style::kHeading, title) + lines.front().substr(title.size()));
  for (std::size_t i = 1; i < lines.size(); ++i) add(lines[i]);
}

std::string PageLines::text() const {
  std::string page;
  for (const std::string& line : lines_) page += line + "\n";
  return page;
}

}  // namespace fathom::cli
