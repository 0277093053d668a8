// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/topology/finite_field.h"

namespace fathom::simulator {

std::optional<FiniteField> FiniteField::of(std::uint32_t q) {
  if (q < 2) return std::nullopt;
  std::uint32_t p = 2;
  while (p * p <= q && q % p != 0) ++p;
  if (q % p != 0) p = q;
  std::uint32_t power = p;
  while (power < q && q % power == 0 && q / power >= p) power *= p;
  if (power != q) return std::nullopt;
  FiniteField field(p, q);
  // A candidate is an element of the prime field, or the lower coefficients of a monic polynomial;
  // some candidates are primitive.
  for (std::uint32_t candidate = 1; candidate < q; ++candidate) {
    if (field.find_powers(candidate)) return field;
  }
  return std::nullopt;
}

std::uint32_t FiniteField::combine(std::uint32_t a, std::uint32_t b, std::uint32_t factor) const {
  std::uint32_t result = 0;
  for (std::uint32_t place = 1; a != 0 || b != 0; place *= p_, a /= p_, b /= p_) {
    result += (a % p_ + factor * (b % p_)) % p_ * place;
  }
  return result;
}

// Whether the candidate's powers run through all q - 1 nonzero elements before 1 comes back.
bool FiniteField::find_powers(std::uint32_t candidate) {
  powers_ = {1};
  const std::uint32_t top = q_ / p_;  // place value of the highest coefficient
  while (powers_.size() < q_) {
    const std::uint32_t last = powers_.back();
    // Multiply by the root, or by x and reduce: the overflowing coefficient subtracts the
    // polynomial.
    const std::uint32_t next =
        p_ == q_ ? static_cast<std::uint32_t>(std::uint64_t{last} * candidate % q_)
                 : combine(last % top * p_, scaled(candidate, last / top), p_ - 1);
    if (next == 1 || next == 0) break;
    powers_.push_back(next);
  }
  if (powers_.size() != q_ - 1) return false;
  logarithm_.assign(q_, 0);
  for (std::uint32_t exponent = 0; exponent + 1 < q_; ++exponent)
    logarithm_[powers_[exponent]] = exponent;
  return true;
}

}  // namespace fathom::simulator
