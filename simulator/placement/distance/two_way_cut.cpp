// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/distance/two_way_cut.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace fathom::simulator {
namespace {

constexpr int kMostPasses = 12;
constexpr std::size_t kPatience = 400;  // moves without a better state that end a pass

}  // namespace

// The gains of moving each item, kept up to date; outdated entries of the queues are skipped.
class TwoWayCut::Pass {
 public:
  Pass(const TwoWayCut& cut, std::vector<char>& side)
      : cut_(cut), side_(side), gain_(side.size()), moved_(side.size(), 0) {
    for (std::uint32_t item = 0; item < side.size(); ++item) {
      gain_[item] = side[item] == 0 ? -cut.pull_[item] : cut.pull_[item];
      for (const Pair& pair : cut.pairs_[item])
        gain_[item] += side[pair.other] == side[item] ? -pair.weight : pair.weight;
      best_[static_cast<std::size_t>(side[item])].emplace(gain_[item], item);
    }
  }

  // The gain of moving the best item of a side; moves nothing if all have been moved.
  bool move_from(char from, double& gain) {
    auto& queue = best_[static_cast<std::size_t>(from)];
    while (!queue.empty()) {
      const auto [expected, item] = queue.top();
      queue.pop();
      if (moved_[item] || expected != gain_[item]) continue;
      gain += expected;
      move(item);
      return true;
    }
    return false;
  }
  void undo_to(std::size_t moves) {
    for (; order_.size() > moves; order_.pop_back()) flip(order_.back());
  }
  std::size_t moves() const { return order_.size(); }

 private:
  void flip(std::uint32_t item) { side_[item] = side_[item] == 0 ? 1 : 0; }

  void move(std::uint32_t item) {
    moved_[item] = 1;
    order_.push_back(item);
    flip(item);
    for (const Pair& pair : cut_.pairs_[item]) {
      if (moved_[pair.other]) continue;
      gain_[pair.other] += side_[pair.other] == side_[item] ? -2 * pair.weight : 2 * pair.weight;
      best_[static_cast<std::size_t>(side_[pair.other])].emplace(gain_[pair.other], pair.other);
    }
  }

  const TwoWayCut& cut_;
  std::vector<char>& side_;
  std::vector<double> gain_;  // by item
  std::vector<char> moved_;   // by item
  std::vector<std::uint32_t> order_;
  std::priority_queue<std::pair<double, std::uint32_t>> best_[2];  // by side
};

void TwoWayCut::add_pair(std::uint32_t one, std::uint32_t other, double weight) {
  pairs_[one].push_back({other, weight});
  pairs_[other].push_back({one, weight});
}

double TwoWayCut::cost_of(const std::vector<char>& side) const {
  double cost = 0;
  for (std::uint32_t item = 0; item < side.size(); ++item) {
    if (side[item] == 1) cost += pull_[item];
    for (const Pair& pair : pairs_[item]) {
      if (item < pair.other && side[item] != side[pair.other]) cost += pair.weight;
    }
  }
  return cost;
}

double TwoWayCut::improve(std::vector<char>& side, std::size_t count) const {
  auto size = static_cast<std::size_t>(std::count(side.begin(), side.end(), 0));
  if (size != count) {
    Pass pass(*this, side);
    double gain = 0;
    for (; size > count; --size) pass.move_from(0, gain);
    for (; size < count; ++size) pass.move_from(1, gain);
  }
  for (int repeat = 0; repeat < kMostPasses; ++repeat) {
    Pass pass(*this, side);
    double gain = 0, best = 0;
    std::size_t best_moves = 0;
    while (pass.moves() < best_moves + kPatience) {
      if (!pass.move_from(0, gain) || !pass.move_from(1, gain)) break;
      // Gains are sums in changing order: a difference in the last digits is none.
      if (gain <= best + 1e-9 * (1 + best)) continue;
      best = gain;
      best_moves = pass.moves();
    }
    pass.undo_to(best_moves);
    if (best_moves == 0) break;
  }
  return cost_of(side);
}

std::vector<char> TwoWayCut::by_pull(std::size_t count) const {
  std::vector<std::uint32_t> order(pull_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t one, std::uint32_t other) {
    return pull_[one] > pull_[other];
  });
  std::vector<char> side(order.size(), 1);
  for (std::size_t at = 0; at < count; ++at) side[order[at]] = 0;
  return side;
}

}  // namespace fathom::simulator
