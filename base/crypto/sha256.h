// SPDX-License-Identifier: BSD-3-Clause
// SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104).
//
// Own code, because programs that ranks start on their hosts can rely on no cryptographic library
// there, and one would be larger than they are. A few hundred MB/s; not for passwords. The tests are
// those of the standards.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace fathom::base {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);
Digest hmac_sha256(std::string_view key, std::string_view bytes);

// Takes the same time wherever they differ.
bool are_equal(const Digest& a, const Digest& b);

inline std::string_view view_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace fathom::base
