// SPDX-License-Identifier: BSD-3-Clause
// What stdout can show: colours on a terminal that no launcher such as mpirun made (never if
// NO_COLOR is set, always if CLICOLOR_FORCE is), bars and arrows in UTF-8 only where the locale is.
#pragma once

#include <string>

namespace fathom::cli {

enum class Style { kPlain, kHeading, kBar, kHiddenBar, kGood, kWarning, kBad, kFaint };

class Terminal {
 public:
  Terminal(bool colours, bool utf8) : colours_(colours), utf8_(utf8) {}
  static Terminal of_stdout();

  std::string styled(Style style, const std::string& text) const;

  // A bar of part/whole of `width` columns, padded to `width`; anything above nothing shows.
  std::string bar(double part, double whole, std::size_t width, Style style) const;

  // Typographic characters that the code uses, in ASCII where the locale wants that.
  std::string text(const std::string& utf8_text) const;

 private:
  bool colours_;
  bool utf8_;
};

}  // namespace fathom::cli
