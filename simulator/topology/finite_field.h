// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic in the finite field of q elements, q a prime power p^n.
//
// Elements are 0..q-1: the coefficients of a polynomial over the integers modulo p, as digits in
// base p, lowest first; 0 and 1 are the neutral elements. For prime q this is arithmetic modulo q.
// Products use tables of powers and logarithms of a primitive element: the smallest primitive root
// if n = 1, else x, modulo the first primitive polynomial of degree n.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace fathom::simulator {

class FiniteField {
 public:
  // None if q is not a prime power. Cost: O(q) per polynomial tried; few are needed.
  static std::optional<FiniteField> of(std::uint32_t q);

  std::uint32_t size() const { return q_; }
  std::uint32_t add(std::uint32_t a, std::uint32_t b) const { return combine(a, b, 1); }
  std::uint32_t subtract(std::uint32_t a, std::uint32_t b) const { return combine(a, b, p_ - 1); }
  std::uint32_t multiply(std::uint32_t a, std::uint32_t b) const {
    return a == 0 || b == 0 ? 0 : powers_[(logarithm_[a] + logarithm_[b]) % (q_ - 1)];
  }
  // Powers of the primitive element: ξ^0, ξ^1, …, ξ^(q-2).
  const std::vector<std::uint32_t>& powers() const { return powers_; }

 private:
  FiniteField(std::uint32_t p, std::uint32_t q) : p_(p), q_(q) {}

  std::uint32_t combine(std::uint32_t a, std::uint32_t b,
                        std::uint32_t factor) const;  // a + factor b
  std::uint32_t scaled(std::uint32_t a, std::uint32_t factor) const {
    return combine(0, a, factor);
  }
  bool find_powers(std::uint32_t candidate);

  std::uint32_t p_, q_;
  std::vector<std::uint32_t> powers_, logarithm_;
};

}  // namespace fathom::simulator
