// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/distance/grid_placement.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "simulator/placement/distance/host_levels.h"
#include "simulator/placement/distance/rank_grid.h"

namespace fathom::simulator {
namespace {

constexpr std::size_t kMostTried = 4000;
constexpr std::size_t kMostWeights = 4;  // classes of heavy pairs in which a grid is looked for

using Numbers = std::vector<std::uint32_t>;

class GridPlacement {
 public:
  GridPlacement(const PlaceCosts& costs, const RankGrid& grid, const HostLevels& levels)
      : costs_(costs), grid_(grid), levels_(levels), factor_(levels.extent.size()) {}

  std::optional<Places> run() {
    if (grid_.ranks.size() <= levels_.host_at.size()) divide(0, grid_.extent);
    return std::move(best_);
  }

 private:
  // Chooses the factors of the levels from this one on; `left` is what remains of each dimension.
  void divide(std::size_t level, const Numbers& left) {
    if (tried_ >= kMostTried) return;
    if (level == factor_.size()) {
      if (std::all_of(left.begin(), left.end(), [](auto extent) { return extent == 1; }))
        try_orders();
      return;
    }
    std::size_t room = 1;  // in the levels below
    for (std::size_t below = level + 1; below < factor_.size(); ++below)
      room *= levels_.extent[below];
    factor_[level].assign(left.size(), 1);
    choose(level, 0, left, levels_.extent[level], room);
  }

  // Chooses the factors of one level from this dimension on. `free`: what is left of its extent.
  void choose(std::size_t level, std::size_t dimension, const Numbers& left, std::uint32_t free,
              std::size_t room) {
    if (dimension == left.size()) {
      Numbers rest = left;
      std::size_t points = 1;
      for (std::size_t at = 0; at < rest.size(); ++at) points *= rest[at] /= factor_[level][at];
      if (points <= room) divide(level + 1, rest);
      return;
    }
    for (std::uint32_t factor = std::min(free, left[dimension]); factor > 0; --factor) {
      if (left[dimension] % factor != 0) continue;
      factor_[level][dimension] = factor;
      choose(level, dimension + 1, left, free / factor, room);
    }
    factor_[level][dimension] = 1;
  }

  void try_orders() {
    Numbers dimensions(grid_.extent.size()), order(factor_.size());
    std::iota(dimensions.begin(), dimensions.end(), 0u);
    std::iota(order.begin(), order.end(), 0u);
    for (const bool outermost_first : {true, false}) {
      if (!outermost_first) std::reverse(order.begin(), order.end());
      Numbers permuted = dimensions;
      do {
        try_one(permuted, order);
        // Of many dimensions, only the order found and its reverse.
        if (permuted.size() > 3) std::prev_permutation(permuted.begin(), permuted.end());
      } while (std::next_permutation(permuted.begin(), permuted.end()) && permuted.size() <= 3);
    }
  }

  void try_one(const Numbers& dimensions, const Numbers& order) {
    ++tried_;
    Places places(costs_.graph.rank_count(), kNoId);
    std::vector<char> used(levels_.host_at.size(), 0);
    std::vector<Numbers> digits(factor_.size(), Numbers(grid_.extent.size()));
    for (std::size_t at = 0; at < grid_.ranks.size(); ++at) {
      for (std::size_t dimension = 0; dimension < grid_.extent.size(); ++dimension) {
        std::uint32_t rest = grid_.coordinates[at][dimension], range = grid_.extent[dimension];
        for (const std::uint32_t level : order)
          digits[level][dimension] = next_digit(factor_[level][dimension], rest, range);
      }
      std::size_t slot = 0;
      for (std::size_t level = 0; level < factor_.size(); ++level)
        slot = slot * levels_.extent[level] + position(level, digits[level], dimensions);
      used[slot] = 1;
      places[grid_.ranks[at]] = levels_.host_at[slot];
    }
    std::size_t next = 0;
    for (std::uint32_t& place : places) {
      if (place != kNoId) continue;
      while (used[next]) ++next;
      place = levels_.host_at[next++];
    }
    const double cost = costs_.of(places);
    if (best_ && cost >= best_cost_) return;
    best_cost_ = cost;
    best_ = std::move(places);
  }

  // The most significant digit of a number below `range`. What follows runs backwards after an odd
  // digit.
  static std::uint32_t next_digit(std::uint32_t radix, std::uint32_t& rest, std::uint32_t& range) {
    range /= radix;
    const std::uint32_t digit = rest / range;
    rest %= range;
    if (digit % 2 == 1) rest = range - 1 - rest;
    return digit;
  }

  // The opposite: the digits of all dimensions in one level, as one number.
  std::uint32_t position(std::size_t level, const Numbers& digits,
                         const Numbers& dimensions) const {
    std::uint32_t result = 0;
    bool backwards = false;
    for (const std::uint32_t dimension : dimensions) {
      const std::uint32_t radix = factor_[level][dimension];
      const std::uint32_t digit = backwards ? radix - 1 - digits[dimension] : digits[dimension];
      result = result * radix + digit;
      if (digits[dimension] % 2 == 1) backwards = !backwards;
    }
    return result;
  }

  const PlaceCosts& costs_;
  const RankGrid& grid_;
  const HostLevels& levels_;
  std::vector<Numbers> factor_;  // by level and dimension
  std::size_t tried_ = 0;
  double best_cost_ = 0;
  std::optional<Places> best_;
};

// Thresholds below which pairs are left out: none, then one after the other of the heaviest sizes.
std::vector<double> thresholds(const RankGraph& graph) {
  std::vector<double> sizes;
  for (std::uint32_t rank = 0; rank < graph.rank_count(); ++rank) {
    for (const RankGraph::Neighbour& edge : graph.of(rank)) sizes.push_back(edge.bytes);
  }
  std::sort(sizes.rbegin(), sizes.rend());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<double> result = {0};
  if (sizes.size() > 1) {
    sizes.resize(std::min(sizes.size(), kMostWeights));
    result.insert(result.end(), sizes.rbegin(), sizes.rend());
  }
  return result;
}

}  // namespace

std::optional<Places> place_on_grid(const PlaceCosts& costs) {
  const auto levels = host_levels(costs);
  if (!levels) return std::nullopt;
  std::optional<Places> best;
  for (const double least_bytes : thresholds(costs.graph)) {
    const auto grid = find_rank_grid(costs.graph, least_bytes);
    if (!grid) continue;
    auto places = GridPlacement(costs, *grid, *levels).run();
    if (places && (!best || costs.of(*places) < costs.of(*best))) best = std::move(places);
  }
  return best;
}

}  // namespace fathom::simulator
