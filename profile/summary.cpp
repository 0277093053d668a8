// SPDX-License-Identifier: BSD-3-Clause
#include "profile/summary.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/order/sort_stably.h"

namespace fathom::profile {
namespace {

void add(Volume& volume, std::uint64_t bytes, std::uint64_t messages) {
  volume.bytes += bytes;
  volume.messages += messages;
}

}  // namespace

std::int64_t rank_count(const Header& header) {
  return std::max(header.world_size, static_cast<std::int64_t>(header.ranks.size()));
}

Volume total(const std::vector<PairCount>& pairs) {
  Volume sum;
  for (const PairCount& pair : pairs) add(sum, pair.bytes, pair.messages);
  return sum;
}

std::vector<ClassTotal> class_totals(const Profile& profile, const Selection& selection) {
  std::map<std::pair<std::string, bool>, Volume> sums;
  for (const Traffic& traffic : profile.traffic) {
    if (!selection.admits(traffic)) continue;
    Volume& volume = sums[{traffic.class_name, traffic.hidden}];
    for (std::size_t row = 0; row < traffic.source.size(); ++row) {
      add(volume, traffic.bytes[row], traffic.messages[row]);
    }
  }
  std::vector<ClassTotal> totals;
  for (const auto& [key, volume] : sums) totals.push_back({key.first, key.second, volume});
  // Stable, because the map has already put ties in order of name.
  base::sort_stably(totals, [](const ClassTotal& left, const ClassTotal& right) {
    return std::pair(left.volume.bytes, left.volume.messages) >
           std::pair(right.volume.bytes, right.volume.messages);
  });
  return totals;
}

std::vector<RankTotal> rank_totals(const std::vector<PairCount>& pairs) {
  std::map<std::int64_t, RankTotal> by_rank;
  for (const PairCount& pair : pairs) {
    add(by_rank[pair.source].sent, pair.bytes, pair.messages);
    add(by_rank[pair.destination].received, pair.bytes, pair.messages);
  }
  std::vector<RankTotal> totals;
  for (auto& [rank, entry] : by_rank) {
    entry.rank = rank;
    totals.push_back(entry);
  }
  return totals;
}

std::vector<PairCount> top_pairs(const std::vector<PairCount>& pairs, std::size_t count,
                                 Metric metric) {
  std::vector<PairCount> heaviest(std::min(count, pairs.size()));
  std::partial_sort_copy(pairs.begin(), pairs.end(), heaviest.begin(), heaviest.end(),
                         [&](const PairCount& left, const PairCount& right) {
                           return std::tuple(by(metric, right), left.source, left.destination) <
                                  std::tuple(by(metric, left), right.source, right.destination);
                         });
  return heaviest;
}

double imbalance(const std::vector<std::uint64_t>& values, std::int64_t ranks) {
  double sum = 0, largest = 0;
  for (const std::uint64_t value : values) {
    sum += static_cast<double>(value);
    largest = std::max(largest, static_cast<double>(value));
  }
  return sum == 0 || ranks == 0 ? 0 : largest * static_cast<double>(ranks) / sum;
}

double density(const std::vector<PairCount>& pairs, std::int64_t ranks) {
  if (ranks < 2) return 0;
  const auto talking = std::count_if(pairs.begin(), pairs.end(), [](const PairCount& pair) {
    return pair.source != pair.destination;
  });
  return static_cast<double>(talking) /
         (static_cast<double>(ranks) * static_cast<double>(ranks - 1));
}

}  // namespace fathom::profile
