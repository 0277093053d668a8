// SPDX-License-Identifier: BSD-3-Clause
// Random numbers that are the same on every machine: SplitMix64 (Steele, Lea, Flood: Fast
// splittable pseudorandom number generators, OOPSLA 2014). The standard library's distributions
// differ between implementations.
#pragma once

#include <cstdint>

#include "base/hash.h"

namespace fathom::base {

// One step of SplitMix64 as a function: every bit of the result depends on every bit of `value`.
constexpr std::uint64_t splitmix64(std::uint64_t value) {
  return mixed(value + 0x9e3779b97f4a7c15u);
}

// Scales `bits` to 0..count-1 (Lemire's multiply-shift); count fits 32 bits.
inline std::uint32_t scaled(std::uint64_t bits, std::uint32_t count) {
  return static_cast<std::uint32_t>((bits >> 32) * count >> 32);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    const std::uint64_t value = splitmix64(state_);
    state_ += 0x9e3779b97f4a7c15u;
    return value;
  }

  // 0..count-1; count is above zero. The bias is below count / 2^64.
  std::uint64_t below(std::uint64_t count) {
    return static_cast<std::uint64_t>(static_cast<Wide>(next()) * count >> 64);
  }

  // At least 0 and below 1.
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t state_;
};

}  // namespace fathom::base
