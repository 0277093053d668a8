// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/blocks.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "profile/pair_sums.h"
#include "profile/summary.h"

namespace fathom::analysis {
namespace {

struct Link {
  std::uint32_t to = 0;
  double weight = 0;
};

// Undirected; a node's own weight counts twice in `touching`.
struct Level {
  std::vector<std::vector<Link>> links;
  std::vector<double> own;
  double all = 0;

  double touching(std::uint32_t node) const {
    double sum = 2 * own[node];
    for (const Link& link : links[node]) sum += link.weight;
    return sum;
  }
};

Level first_level(const std::vector<profile::PairCount>& pairs,
                  const std::vector<std::int64_t>& ranks) {
  const bool by_bytes = profile::total(pairs).bytes > 0;
  const auto node = [&](std::int64_t rank) {
    return static_cast<std::uint32_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) -
                                      ranks.begin());
  };
  Level level;
  level.links.resize(ranks.size());
  level.own.resize(ranks.size(), 0);
  for (const profile::PairCount& pair : profile::symmetrised(pairs)) {
    if (pair.source == pair.destination) continue;
    const auto weight = static_cast<double>(by_bytes ? pair.bytes : pair.messages);
    const std::uint32_t a = node(pair.source), b = node(pair.destination);
    level.links[a].push_back({b, weight});
    level.links[b].push_back({a, weight});
    level.all += weight;
  }
  return level;
}

// Moves nodes between blocks until there is no more gain. Returns each node's block; false if none
// moved.
class Moves {
 public:
  explicit Moves(const Level& level)
      : level_(level), block_(level.links.size()), touching_(block_.size()) {
    std::iota(block_.begin(), block_.end(), 0u);
    for (std::uint32_t node = 0; node < block_.size(); ++node)
      touching_[node] = level.touching(node);
    weight_to_.resize(block_.size(), 0);
  }

  bool run() {
    constexpr int kMostPasses = 50;
    bool any = false;
    for (int pass = 0; pass < kMostPasses; ++pass) {
      bool moved = false;
      for (std::uint32_t node = 0; node < block_.size(); ++node) moved = move(node) || moved;
      any = any || moved;
      if (!moved) break;
    }
    return any;
  }

  const std::vector<std::uint32_t>& block() const { return block_; }

 private:
  bool move(std::uint32_t node) {
    const double own = level_.touching(node);
    std::vector<std::uint32_t> near = {block_[node]};
    for (const Link& link : level_.links[node]) {
      if (weight_to_[block_[link.to]] == 0) near.push_back(block_[link.to]);
      weight_to_[block_[link.to]] += link.weight;
    }
    touching_[block_[node]] -= own;
    const auto gain = [&](std::uint32_t block) {
      return weight_to_[block] - touching_[block] * own / (2 * level_.all);
    };
    std::uint32_t best = block_[node];
    // The margin keeps rounding from moving a node back and forth between equal blocks.
    for (const std::uint32_t block : near) {
      if (gain(block) > gain(best) + 1e-12 * level_.all) best = block;
    }
    touching_[best] += own;
    for (const std::uint32_t block : near) weight_to_[block] = 0;
    const bool moved = best != block_[node];
    block_[node] = best;
    return moved;
  }

  const Level& level_;
  std::vector<std::uint32_t> block_;
  std::vector<double> touching_;   // by block
  std::vector<double> weight_to_;  // by block, for the current node
};

// Numbers blocks from 0 in the order of their first nodes.
std::uint32_t renumber(std::vector<std::uint32_t>& blocks) {
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (std::uint32_t& block : blocks) {
    block = numbers.try_emplace(block, static_cast<std::uint32_t>(numbers.size())).first->second;
  }
  return static_cast<std::uint32_t>(numbers.size());
}

Level next_level(const Level& level, const std::vector<std::uint32_t>& block, std::uint32_t count) {
  Level next;
  next.links.resize(count);
  next.own.resize(count, 0);
  next.all = level.all;
  std::vector<std::unordered_map<std::uint32_t, double>> sums(count);
  for (std::uint32_t node = 0; node < block.size(); ++node) {
    next.own[block[node]] += level.own[node];
    for (const Link& link : level.links[node]) {
      if (block[link.to] == block[node]) {
        next.own[block[node]] += link.weight / 2;
      } else {
        sums[block[node]][block[link.to]] += link.weight;
      }
    }
  }
  for (std::uint32_t node = 0; node < count; ++node) {
    for (const auto& [to, weight] : sums[node]) next.links[node].push_back({to, weight});
    std::sort(next.links[node].begin(), next.links[node].end(),
              [](const Link& a, const Link& b) { return a.to < b.to; });
  }
  return next;
}

void measure(const Level& level, Blocks& blocks) {
  double inside = 0, chance = 0;
  for (std::uint32_t block = 0; block < level.links.size(); ++block) {
    const double part = level.touching(block) / (2 * level.all);
    inside += level.own[block];
    chance += part * part;
  }
  blocks.share_inside = inside / level.all;
  blocks.modularity = blocks.share_inside - chance;
}

}  // namespace

Blocks blocks_of(const std::vector<profile::PairCount>& pairs) {
  Blocks blocks;
  for (const profile::PairCount& pair : pairs) {
    if (pair.source == pair.destination) continue;
    blocks.ranks.push_back(pair.source);
    blocks.ranks.push_back(pair.destination);
  }
  std::sort(blocks.ranks.begin(), blocks.ranks.end());
  blocks.ranks.erase(std::unique(blocks.ranks.begin(), blocks.ranks.end()), blocks.ranks.end());
  Level level = first_level(pairs, blocks.ranks);
  if (level.all == 0) return blocks;
  std::vector<std::uint32_t> block(blocks.ranks.size());
  std::iota(block.begin(), block.end(), 0u);
  while (true) {
    Moves moves(level);
    const bool moved = moves.run();
    std::vector<std::uint32_t> coarser = moves.block();
    const std::uint32_t count = renumber(coarser);
    for (std::uint32_t& entry : block) entry = coarser[entry];
    level = next_level(level, coarser, count);
    if (!moved) break;
  }
  blocks.count = static_cast<std::int64_t>(level.links.size());
  blocks.block.assign(block.begin(), block.end());
  measure(level, blocks);
  return blocks;
}

}  // namespace fathom::analysis
