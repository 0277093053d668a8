// SPDX-License-Identifier: BSD-3-Clause
// Divides items into two sides of given sizes:
//
//     cost = sum of the weights of pairs on different sides + sum of the pulls of items on side 1
//
// A pass moves items to the other side one after the other, each once, in turns, so that the sizes
// are kept; each time the item that gains most. The best state on the way is kept (C. Fiduccia, R.
// Mattheyses, A linear-time heuristic for improving network partitions, DAC 1982). Passes are
// repeated while they help. Cost of a pass: O(pairs * log(pairs)); memory: 32 bytes per pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::simulator {

class TwoWayCut {
 public:
  explicit TwoWayCut(std::size_t items) : pairs_(items), pull_(items, 0) {}

  void add_pair(std::uint32_t one, std::uint32_t other, double weight);
  // A positive pull draws the item to side 0.
  void add_pull(std::uint32_t item, double pull) { pull_[item] += pull; }

  struct Pair {
    std::uint32_t other;
    double weight;
  };
  std::size_t items() const { return pairs_.size(); }
  const std::vector<Pair>& pairs_of(std::uint32_t item) const { return pairs_[item]; }
  double pull_of(std::uint32_t item) const { return pull_[item]; }

  // `side`: 0 or 1 by item. First makes the size of side 0 `count`, then improves. Returns the cost
  // less that of all pulls to side 1.
  double improve(std::vector<char>& side, std::size_t count) const;

  // The `count` items with the largest pull on side 0.
  std::vector<char> by_pull(std::size_t count) const;

 private:
  class Pass;
  double cost_of(const std::vector<char>& side) const;

  std::vector<std::vector<Pair>> pairs_;  // by item
  std::vector<double> pull_;
};

}  // namespace fathom::simulator
