// SPDX-License-Identifier: BSD-3-Clause
// Writes protocol buffer messages (protobuf.dev/programming-guides/encoding), as far as Perfetto
// needs them.
//
//   field: key = number * 8 + wire type, then
//     0 varint: 7 bits per byte, lowest first; the high bit means that more follow
//     1 fixed64: 8 bytes, little-endian
//     2 length-delimited: varint length, bytes
// A nested message is built in its own Protobuf and added as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace fathom::exporters {

class Protobuf {
 public:
  void varint(std::uint32_t field, std::uint64_t value) {
    key(field, 0);
    raw(value);
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    key(field, 1);
    for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(value >> shift));
  }
  // Converts to UTF-8, which strings must be.
  void text(std::uint32_t field, std::string_view value) { bytes(field, base::as_utf8(value)); }
  void message(std::uint32_t field, const Protobuf& nested) { bytes(field, nested.bytes_); }

  std::string_view bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void key(std::uint32_t field, std::uint32_t wire_type) { raw(field << 3 | wire_type); }
  void bytes(std::uint32_t field, std::string_view value) {
    key(field, 2);
    raw(value.size());
    bytes_.append(value);
  }
  void raw(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

}  // namespace fathom::exporters
