// SPDX-License-Identifier: BSD-3-Clause
// Blocks: groups of ranks that talk more with each other than chance would have it.
//
// Maximises Newman's modularity of the symmetrised traffic,
//   Q = sum over blocks of [ inside / W - (touching / 2W)^2 ],
// W the weight of all undirected pairs, `inside` of those within the block, `touching` the sum of
// its ranks' weights, with the method of Blondel et al. (J. Stat. Mech. 2008, P10008): each rank
// moves to the neighbouring block that gains most, until none gains; blocks then become nodes, and
// so on. Ranks are taken in their order, so that the result is the same every time. Cost: a few
// passes over the pairs for each level.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace fathom::analysis {

struct Blocks {
  std::vector<std::int64_t> ranks;  // that talk with another, ascending
  std::vector<std::int64_t> block;  // of each, from 0 in the order of their first ranks
  std::int64_t count = 0;
  double modularity = 0;    // 0: nothing but chance; above some 0.3 the blocks mean something
  double share_inside = 0;  // of the traffic between different ranks, within blocks
};

// By bytes, or by messages where there are none.
Blocks blocks_of(const std::vector<profile::PairCount>& pairs);

}  // namespace fathom::analysis
