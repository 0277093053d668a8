// SPDX-License-Identifier: BSD-3-Clause
#include "cli/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/launcher.h"

namespace fathom::cli {
namespace {

const char* escape_of(Style style) {
  switch (style) {
    case Style::kHeading: return "\033[1m";
    case Style::kBar: return "\033[36m";
    case Style::kHiddenBar: return "\033[35m";
    case Style::kGood: return "\033[32m";
    case Style::kWarning: return "\033[33m";
    case Style::kBad: return "\033[31m";
    case Style::kFaint: return "\033[2m";
    case Style::kPlain: break;
  }
  return "";
}

bool locale_is_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (!value || !*value) continue;
    std::string name(value);
    std::transform(name.begin(), name.end(), name.begin(), ::toupper);
    return name.find("UTF-8") != name.npos || name.find("UTF8") != name.npos;
  }
  return false;
}

std::string repeated(const char* piece, std::size_t times) {
  std::string text;
  while (times-- > 0) text += piece;
  return text;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

bool wants_colours() {
  if (is_set("NO_COLOR")) return false;
  if (is_set("CLICOLOR_FORCE") && std::string(std::getenv("CLICOLOR_FORCE")) != "0") return true;
  const char* term = std::getenv("TERM");
  // Launchers give their processes a pseudo-terminal, wherever the output goes then.
  return isatty(STDOUT_FILENO) && !base::launched_rank() && term && std::string(term) != "dumb";
}

// Below 60 columns tables make no sense; above 200 no eye follows a line.
constexpr std::size_t kLeastWidth = 60, kMostWidth = 200;

std::size_t width_of_stdout() {
  winsize size = {};
  const bool known = !base::launched_rank() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 0 ? std::clamp<std::size_t>(size.ws_col, kLeastWidth, kMostWidth)
                                  : kUsualWidth;
}

}  // namespace

Terminal Terminal::of_stdout() {
  return Terminal(wants_colours(), locale_is_utf8(), width_of_stdout());
}

Terminal Terminal::of(const std::string& path) {
  return path.empty() ? of_stdout() : Terminal(false, locale_is_utf8());
}

std::string Terminal::styled(Style style, const std::string& text) const {
  const char* escape = escape_of(style);
  return colours_ && *escape ? escape + text + "\033[0m" : text;
}

std::string Terminal::bar(double part, double whole, std::size_t width, Style style) const {
  static constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double filled =
      whole > 0 ? std::clamp(part / whole, 0.0, 1.0) * static_cast<double>(width) : 0;
  std::size_t eighths = static_cast<std::size_t>(std::lround(filled * 8));
  if (part > 0) eighths = std::max<std::size_t>(eighths, 1);
  if (!utf8_) {
    const std::size_t cells = std::max<std::size_t>((eighths + 4) / 8, part > 0);
    return styled(style, std::string(cells, '#')) + std::string(width - cells, ' ');
  }
  const std::size_t cells = (eighths + 7) / 8;
  return styled(style, repeated("█", eighths / 8) + kEighths[eighths % 8]) +
         std::string(width - cells, ' ');
}

std::string Terminal::text(const std::string& utf8_text) const {
  if (utf8_) return utf8_text;
  constexpr std::array<std::pair<const char*, const char*>, 8> kAscii = {{{"→", "->"},
                                                                          {"←", "<-"},
                                                                          {"×", "x"},
                                                                          {"–", "-"},
                                                                          {"·", "|"},
                                                                          {"…", "..."},
                                                                          {"µ", "u"},
                                                                          {"σ", "sigma"}}};
  std::string ascii = utf8_text;
  for (const auto& [from, to] : kAscii) {
    for (std::size_t at; (at = ascii.find(from)) != ascii.npos;) {
      ascii.replace(at, std::string(from).size(), to);
    }
  }
  return ascii;
}

}  // namespace fathom::cli
