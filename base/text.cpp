// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"

#include <array>
#include <cstdio>

#include "base/utf8.h"

namespace fathom::base {

std::string duration_text(double seconds) {
  constexpr std::array<const char*, 4> kUnits = {"ns", "us", "ms", "s"};
  char text[48];
  double value = seconds * 1e9;
  std::size_t unit = 0;
  // From 999.5 on, three digits would show 1e+03 of the smaller unit.
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  if (value <= 0) unit = kUnits.size() - 1;
  std::snprintf(text, sizeof text, value < 999.5 ? "%.3g %s" : "%.0f %s", value, kUnits[unit]);
  return text;
}

std::string csv_field(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos;
  return plain ? std::string(text) : csv_quoted(text);
}

std::string csv_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char character : text) quoted.append(character == '"' ? 2 : 1, character);
  return quoted + '"';
}

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char character : as_utf8(text)) {
    switch (character) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += static_cast<unsigned char>(character) < 0x20 ? '?' : character;
    }
  }
  return escaped;
}

}  // namespace fathom::base
