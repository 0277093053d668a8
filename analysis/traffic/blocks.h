// SPDX-License-Identifier: BSD-3-Clause
// Blocks: groups of ranks that communicate more with each other than expected by chance.
//
// Maximises Newman's modularity of the symmetrised traffic,
//
//   Q = sum over blocks of [ inside / W - (touching / 2W)^2 ],
//
// where W is the weight of all undirected pairs, `inside` that of pairs within the block, and
// `touching` the sum of its ranks' weights, with the method of Blondel et al. (J. Stat. Mech. 2008,
// P10008): each rank moves to the neighbouring block with the largest gain until there is none;
// blocks then become nodes, and so on. Ranks are visited in order, so the result is deterministic.
// Cost: a few passes over the pairs per level.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace fathom::analysis {

struct Blocks {
  std::vector<std::int64_t> ranks;  // with traffic to another rank, ascending
  std::vector<std::int64_t> block;  // of each, from 0 in the order of their first ranks
  std::int64_t count = 0;
  double modularity = 0;    // 0: no better than chance; above about 0.3 the blocks are meaningful
  double share_inside = 0;  // share of the traffic between different ranks that is within blocks
};

// By bytes, or by messages if there are no bytes.
Blocks blocks_of(const std::vector<profile::PairCount>& pairs);

}  // namespace fathom::analysis
