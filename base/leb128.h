// SPDX-License-Identifier: BSD-3-Clause
// Numbers of seven bits a byte, lowest first; the high bit means that more follow (LEB128). Signed
// ones as zigzag: small amounts of either sign become small numbers.
//
// At most ten bytes a number. The caller has room for them, and reads only what was written.
#pragma once

#include <cstdint>

namespace fathom::base {

// Both return what follows.
inline std::uint8_t* put_leb128(std::uint8_t* to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<std::uint8_t>(value | 0x80);
  *to++ = static_cast<std::uint8_t>(value);
  return to;
}
inline const std::uint8_t* get_leb128(const std::uint8_t* from, std::uint64_t& value) {
  value = *from & 0x7Fu;
  for (int shift = 7; (*from++ & 0x80) != 0; shift += 7)
    value |= std::uint64_t{*from & 0x7Fu} << shift;
  return from;
}

// The difference of two unsigned numbers, and what it leads to.
inline std::uint64_t zigzag(std::uint64_t value, std::uint64_t from = 0) {
  const auto step = static_cast<std::int64_t>(value - from);
  return static_cast<std::uint64_t>(step) << 1 ^ static_cast<std::uint64_t>(step >> 63);
}
inline std::uint64_t from_zigzag(std::uint64_t bits, std::uint64_t from = 0) {
  return from + (bits >> 1 ^ (~(bits & 1) + 1));
}

}  // namespace fathom::base
