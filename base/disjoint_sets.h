// SPDX-License-Identifier: BSD-3-Clause
// Disjoint sets of the numbers 0..count-1 (union-find): near-constant cost per call. The representative of a set is its least member.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace fathom::base {

class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count), sets_(count) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }

  std::uint32_t find(std::uint32_t item) {
    while (parent_[item] != item) item = parent_[item] = parent_[parent_[item]];
    return item;
  }
  void join(std::uint32_t one, std::uint32_t other) {
    one = find(one), other = find(other);
    if (one == other) return;
    parent_[std::max(one, other)] = std::min(one, other);
    --sets_;
  }
  std::size_t sets() const { return sets_; }

  // The set of each item, numbered in the order of the sets' least members.
  std::vector<std::uint32_t> numbered() {
    std::vector<std::uint32_t> number(parent_.size());
    std::uint32_t next = 0;
    for (std::uint32_t item = 0; item < parent_.size(); ++item) {
      const std::uint32_t least = find(item);
      number[item] = least == item ? next++ : number[least];
    }
    return number;
  }

 private:
  std::vector<std::uint32_t> parent_;
  std::size_t sets_;
};

}  // namespace fathom::base
