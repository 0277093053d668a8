// SPDX-License-Identifier: BSD-3-Clause
// Figures computed from a profile: totals by class and rank, the heaviest pairs, and how evenly the
// traffic is spread. pair_sums.h makes the pairs and applies a Selection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "profile/selection.h"

namespace fathom::profile {

enum class Metric { kBytes, kMessages };

struct Volume {
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
};

inline std::uint64_t by(Metric metric, const PairCount& pair) {
  return metric == Metric::kBytes ? pair.bytes : pair.messages;
}

// The number of processes: those of the job's own world and those that it met from other worlds.
// Every rank in the profile is below this.
std::int64_t rank_count(const Header& header);

Volume total(const std::vector<PairCount>& pairs);

struct ClassTotal {
  std::string class_name;
  bool hidden = false;
  Volume volume;
};

// One entry for each (class, hidden), most bytes first, then most messages, then by name.
std::vector<ClassTotal> class_totals(const Profile& profile, const Selection& selection = {});

struct RankTotal {
  std::int64_t rank = 0;
  Volume sent;
  Volume received;
};

// One entry for each rank that sent or received, ascending. Messages to oneself count on both
// sides.
std::vector<RankTotal> rank_totals(const std::vector<PairCount>& pairs);

// The `count` pairs with the most traffic, heaviest first. Ties: by source, then destination.
std::vector<PairCount> top_pairs(const std::vector<PairCount>& pairs, std::size_t count,
                                 Metric metric);

// The largest of `ranks` values divided by their mean, where values not in the list are 0: 1 is
// perfectly even, `ranks` means all on one rank. 0 if there is no traffic.
double imbalance(const std::vector<std::uint64_t>& values, std::int64_t ranks);

// The share, from 0 to 1, of the ranks * (ranks - 1) ordered pairs of different ranks that
// communicated.
double density(const std::vector<PairCount>& pairs, std::int64_t ranks);

}  // namespace fathom::profile
