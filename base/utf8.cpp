// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.h"

#include <cstddef>

namespace fathom::base {
namespace {

// Length of the well-formed sequence at the start of `text`, 0 if there is none. Table 3-7 of the
// Unicode Standard: the first byte limits the second, the others are 80..BF.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  unsigned second_low = 0x80, second_high = 0xBF;
  std::size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (first == 0xE0) second_low = 0xA0;
  if (first == 0xED) second_high = 0x9F;
  if (first == 0xF0) second_low = 0x90;
  if (first == 0xF4) second_high = 0x8F;
  if (length == 0 || byte(1) < second_low || byte(1) > second_high) return 0;
  for (std::size_t at = 2; at < length; ++at) {
    if (byte(at) < 0x80 || byte(at) > 0xBF) return 0;
  }
  return length;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string as_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) {
      result += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    } else {
      result += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return result;
}

}  // namespace fathom::base
