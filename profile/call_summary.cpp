// SPDX-License-Identifier: BSD-3-Clause
#include "profile/call_summary.h"

#include <algorithm>
#include <utility>

#include "base/order/sort_stably.h"
#include "base/seconds.h"

namespace fathom::profile {
namespace {

void add(CallSum& to, const CallSum& more) {
  to.calls += more.calls;
  to.seconds += more.seconds;
  to.longest_seconds = std::max(to.longest_seconds, more.longest_seconds);
  to.bytes += more.bytes;
}

template <typename Item, typename Sum>
void most_time_first(std::vector<Item>& items, Sum sum) {
  base::sort_stably(items,
                    [&](const Item& a, const Item& b) { return sum(a).seconds > sum(b).seconds; });
}

}  // namespace

void CallSum::add(const CallTimes& block, std::size_t row) {
  profile::add(*this, {block.calls[row], base::seconds(block.total_ns[row]),
                       base::seconds(block.longest_ns[row]), block.bytes[row]});
}

void CallSummary::add(const CallTimes& block) {
  if (!selection_.admits(block)) return;
  auto& ranks = sites_[{block.function, block.site}];
  for (std::size_t row = 0; row < block.rank.size(); ++row) ranks[block.rank[row]].add(block, row);
}

std::vector<RankTime> CallSummary::ranks(const Header& header) const {
  std::map<std::int64_t, RankTime> times;
  for (const Rank& rank : header.ranks) {
    // A rank that left no counts is left out instead of being shown as one that spent no time in MPI.
    if (rank.reported && rank.world.empty())
      times[rank.rank] = {rank.rank, rank.seconds, 0, rank.peak_memory_bytes,
                          rank.processor_wait_seconds};
  }
  for (const auto& [key, ranks] : sites_) {
    for (const auto& [rank, sum] : ranks) {
      const auto found = times.find(rank);
      if (found != times.end()) found->second.mpi_seconds += sum.seconds;
    }
  }
  std::vector<RankTime> list;
  for (const auto& [rank, time] : times) list.push_back(time);
  return list;
}

std::vector<SiteTotal> CallSummary::sites(const Header& header) const {
  std::vector<SiteTotal> list;
  for (const auto& [key, ranks] : sites_) {
    SiteTotal total;
    total.function = key.first;
    total.site = key.second;
    double most = -1;
    for (const auto& [rank, sum] : ranks) {
      profile::add(total.sum, sum);
      if (sum.seconds <= most) continue;
      most = sum.seconds;
      total.slowest_rank = rank;
    }
    const double mean =
        total.sum.seconds / static_cast<double>(std::max<std::int64_t>(header.world_size, 1));
    total.imbalance = mean > 0 ? most / mean : 0;
    list.push_back(std::move(total));
  }
  most_time_first(list, [](const SiteTotal& total) { return total.sum; });
  return list;
}

std::vector<std::pair<std::string, CallSum>> CallSummary::functions() const {
  std::map<std::string, CallSum> sums;
  for (const auto& [key, ranks] : sites_) {
    for (const auto& [rank, sum] : ranks) profile::add(sums[key.first], sum);
  }
  std::vector<std::pair<std::string, CallSum>> list(sums.begin(), sums.end());
  most_time_first(list, [](const auto& entry) { return entry.second; });
  return list;
}

}  // namespace fathom::profile
