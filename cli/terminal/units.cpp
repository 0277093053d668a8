// SPDX-License-Identifier: BSD-3-Clause
#include "cli/terminal/units.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace fathom::cli {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string cut(const std::string& text, std::size_t width) {
  std::size_t at = 0;
  for (std::size_t column = 0; at < text.size() && column + 1 < width; ++column) {
    ++at;
    while (at < text.size() && continues(text[at])) ++at;
  }
  return text.substr(0, at) + "~";
}

// Whether the blank at `at` stands between a number and its unit, which belong on one line.
bool joins_unit(const std::string& text, std::size_t at) {
  if (at == 0 || text[at] != ' ' || text[at - 1] < '0' || text[at - 1] > '9') return false;
  const std::size_t end = std::min(text.find_first_of(" ,.;:)", at + 1), text.size());
  const std::string_view unit = std::string_view(text).substr(at + 1, end - at - 1);
  constexpr std::array<std::string_view, 10> kUnits = {"%",   "×", "ns", "us", "ms",
                                                       "min", "s", "B",  "kB", "MB"};
  return std::find(kUnits.begin(), kUnits.end(), unit) != kUnits.end();
}

// So that three digits are shown of a value below 1000.
int decimals_of(double value) { return value < 9.995 ? 2 : value < 99.95 ? 1 : 0; }

}  // namespace

std::string human_bytes(double bytes) {
  constexpr std::array<const char*, 7> kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  // From 999.5 on, rounding would show 1000 of the smaller unit.
  while (bytes >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  const int decimals = unit == 0 && bytes == std::floor(bytes) ? 0 : decimals_of(bytes);
  return fmt::format("{:.{}f} {}", bytes, decimals, kUnits[unit]);
}

std::string bin_edge(std::uint64_t bytes) {
  constexpr std::array<const char*, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

std::string grouped(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string times(std::uint64_t count) { return count == 1 ? "once" : grouped(count) + " times"; }

std::string percent(double part, double of) {
  if (of <= 0) return "0 %";
  const double value = 100 * part / of;
  if (part > 0 && value < 0.1) return "<0.1 %";
  if (value > 99 && part < of) return fmt::format("{:.1f} %", std::min(value, 99.9));
  return fmt::format("{:.{}f} %", value, value > 0 && value < 10 && value < 9.95 ? 1 : 0);
}

std::string human_seconds(double seconds) {
  if (seconds < 0.0995) return fmt::format("{:.1f} ms", seconds * 1000);
  if (seconds < 9.95) return fmt::format("{:.2f} s", seconds);
  if (seconds < 119.5) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 7200) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string human_time(double seconds) {
  if (seconds == 0) return "0 s";
  if (seconds >= 999.5) return human_seconds(seconds);
  constexpr std::array<const char*, 4> kUnits = {"s", "ms", "µs", "ns"};
  std::size_t unit = 0;
  while (seconds < 0.9995 && unit + 1 < kUnits.size()) {
    seconds *= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", seconds, decimals_of(seconds), kUnits[unit]);
}

std::string human_rate(double bytes_per_s) { return human_bytes(bytes_per_s) + "/s"; }

std::string printable(const std::string& text) {
  std::string safe;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool c1 = byte == 0xC2 && at + 1 < text.size() &&
                    static_cast<unsigned char>(text[at + 1]) < 0xA0;  // U+0080..U+009F
    if (c1) ++at;
    safe += c1 || byte < 0x20 || byte == 0x7F ? '?' : text[at];
  }
  return safe;
}

std::size_t columns(const std::string& text) {
  std::size_t count = 0;
  for (const char c : text) count += !continues(c);
  return count;
}

std::string left(const std::string& text, std::size_t width) {
  const std::size_t used = columns(text);
  return used > width ? cut(text, width) : text + std::string(width - used, ' ');
}

std::string right(const std::string& text, std::size_t width) {
  const std::size_t used = columns(text);
  return used > width ? cut(text, width) : std::string(width - used, ' ') + text;
}

std::size_t word_end(const std::string& text, std::size_t at) {
  std::size_t end = std::min(text.find(' ', at), text.size());
  while (end < text.size() && joins_unit(text, end))
    end = std::min(text.find(' ', end + 1), text.size());
  return end;
}

std::vector<std::string> wrapped(const std::string& text, std::size_t width,
                                 const std::string& mark) {
  std::vector<std::string> lines = {mark};
  bool empty = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = word_end(text, at);
    const std::string word = text.substr(at, end - at);
    if (!empty && columns(lines.back()) + 1 + columns(word) > width) {
      lines.push_back(std::string(columns(mark) + 2, ' '));
      empty = true;
    }
    lines.back() += (empty ? "" : " ") + word;
    empty = false;
    at = end + 1;
  }
  return lines;
}

std::string folded(const std::string& page, std::size_t width, std::size_t indent) {
  std::string text;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = std::min(page.find('\n', at), page.size());
    std::string line = page.substr(at, end - at);
    while (columns(line) > width) {
      std::size_t blank = line.npos;  // the last one that fits, past the label
      for (std::size_t i = 0, column = 0; i < line.size() && column <= width; ++i) {
        if (line[i] == ' ' && column > indent && !joins_unit(line, i)) blank = i;
        column += !continues(line[i]);
      }
      if (blank == line.npos) break;  // one long word
      text += line.substr(0, line.find_last_not_of(' ', blank) + 1) + "\n";
      line = std::string(indent, ' ') + line.substr(line.find_first_not_of(' ', blank));
    }
    text += line + (end < page.size() ? "\n" : "");
    at = end + 1;
  }
  return text;
}

}  // namespace fathom::cli
