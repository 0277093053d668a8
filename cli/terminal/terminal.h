// SPDX-License-Identifier: BSD-3-Clause
// What stdout can display: colours on a terminal, unless a launcher such as mpirun created it
// (never if NO_COLOR is set, always if CLICOLOR_FORCE is); bars and arrows in UTF-8 only in a UTF-8
// locale; as many columns as the terminal has.
#pragma once

#include <cstddef>
#include <string>

namespace fathom::cli {

enum class Style { kPlain, kHeading, kBar, kHiddenBar, kGood, kWarning, kBad, kFaint };

// Columns of a page that does not go to a terminal.
inline constexpr std::size_t kUsualWidth = 80;

class Terminal {
 public:
  Terminal(bool colours, bool utf8, std::size_t width = kUsualWidth)
      : colours_(colours), utf8_(utf8), width_(width) {}
  static Terminal of_stdout();
  // For text that goes to this file, or to stdout if the path is empty: files have no colours.
  static Terminal of(const std::string& path);

  // Columns to fill: the terminal's, from 60 to 200; kUsualWidth without a terminal.
  std::size_t width() const { return width_; }

  std::string styled(Style style, const std::string& text) const;

  // A bar of part/whole of `width` columns, padded to `width`; any nonzero part is visible.
  std::string bar(double part, double whole, std::size_t width, Style style) const;

  // The typographic characters used in the code, replaced by ASCII if the locale requires it.
  std::string text(const std::string& utf8_text) const;

 private:
  bool colours_;
  bool utf8_;
  std::size_t width_;
};

}  // namespace fathom::cli
