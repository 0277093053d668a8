// SPDX-License-Identifier: BSD-3-Clause
// Hashing of words. Not cryptographic: the input is trusted.
#pragma once

#include <cstdint>

namespace fathom::base {

// Every bit of the result depends on every bit of the word (the finaliser of SplitMix64).
constexpr std::uint64_t mixed(std::uint64_t word) {
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
  word = (word ^ word >> 27) * 0x94d049bb133111ebu;
  return word ^ word >> 31;
}

struct WordHash {
  std::uint64_t operator()(std::uint64_t word) const { return mixed(word); }
};

}  // namespace fathom::base
