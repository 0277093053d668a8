// SPDX-License-Identifier: BSD-3-Clause
// The lines of a page, as wide as its terminal, with the styles and characters that this can show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/terminal/terminal.h"

namespace fathom::cli {

// "1 rank", "4,096 ranks".
std::string plural(std::uint64_t count, const std::string& noun);

inline double as_double(std::uint64_t count) { return static_cast<double>(count); }

class PageLines {
 public:
  explicit PageLines(const Terminal& terminal) : terminal_(terminal) {}

  const Terminal& terminal() const { return terminal_; }
  std::size_t width() const { return terminal_.width(); }
  std::string styled(Style style, const std::string& text) const {
    return terminal_.styled(style, text);
  }
  std::string nice(const std::string& text) const { return terminal_.text(text); }

  // Without its trailing blanks.
  void add(const std::string& line);
  // What a table is as text: several lines.
  void add_text(const std::string& text);
  // As many lines as the sentence needs; `mark` precedes the first, and blanks as wide the others.
  void wrapped(const std::string& sentence, Style style, const std::string& mark);
  // The same for a title and what follows it in plain style.
  void titled(const std::string& title, const std::string& facts);

  std::string text() const;

 private:
  const Terminal& terminal_;
  std::vector<std::string> lines_;
};

}  // namespace fathom::cli
