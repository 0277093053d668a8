// SPDX-License-Identifier: BSD-3-Clause
#include "profile/wait_summary.h"

#include <algorithm>

#include "base/order/sort_stably.h"
#include "base/seconds.h"
#include "mpi/wait_kind.h"

namespace fathom::profile {
namespace {

template <typename Item>
void most_seconds_first(std::vector<Item>& items) {
  base::sort_stably(items, [](const Item& a, const Item& b) { return a.seconds > b.seconds; });
}

}  // namespace

void WaitSummary::add(const CallWaits& block) {
  if (!selection_.admits(block)) return;
  const auto kind = mpi::wait_kind_named(block.kind);
  const bool edge = kind == mpi::WaitKind::kInit || kind == mpi::WaitKind::kFinalize;
  const Way way{block.kind, block.function, block.site};
  for (std::size_t row = 0; row < block.rank.size(); ++row) {
    const Pair pair{block.rank[row], block.awaited[row]};
    Sum& sum = edge ? edges_[*kind][pair] : pairs_[pair][way];
    sum.waits += block.waits[row];
    sum.total_ns += block.total_ns[row];
    sum.longest_ns = std::max(sum.longest_ns, block.longest_ns[row]);
  }
}

double WaitSummary::seconds() const {
  double all = 0;
  for (const auto& [pair, ways] : pairs_) {
    for (const auto& [way, sum] : ways) all += base::seconds(sum.total_ns);
  }
  return all;
}

std::vector<WaitPair> WaitSummary::pairs() const {
  std::vector<WaitPair> list;
  for (const auto& [ranks, ways] : pairs_) {
    WaitPair pair;
    std::tie(pair.rank, pair.awaited) = ranks;
    for (const auto& [way, sum] : ways) {
      pair.waits += sum.waits;
      pair.seconds += base::seconds(sum.total_ns);
      pair.longest_seconds = std::max(pair.longest_seconds, base::seconds(sum.longest_ns));
      if (!pair.kind.empty() && base::seconds(sum.total_ns) <= pair.seconds_there) continue;
      std::tie(pair.kind, pair.function, pair.site) = way;
      pair.seconds_there = base::seconds(sum.total_ns);
    }
    list.push_back(std::move(pair));
  }
  most_seconds_first(list);
  return list;
}

std::vector<WaitingCall> WaitSummary::calls(std::size_t top) const {
  std::vector<WaitingCall> list;
  for (const auto& [ranks, ways] : pairs_) {
    for (const auto& [way, sum] : ways) {
      WaitingCall call;
      std::tie(call.rank, call.awaited) = ranks;
      std::tie(call.kind, call.function, call.site) = way;
      call.waits = sum.waits;
      call.seconds = base::seconds(sum.total_ns);
      call.longest_seconds = base::seconds(sum.longest_ns);
      list.push_back(std::move(call));
    }
  }
  most_seconds_first(list);
  list.resize(std::min(list.size(), top));
  return list;
}

std::vector<EdgeWaits> WaitSummary::edges() const {
  std::vector<EdgeWaits> list;
  for (const auto& [kind, pairs] : edges_) {
    EdgeWaits edge;
    edge.kind = mpi::name_of(kind);
    for (const auto& [pair, sum] : pairs) {
      const double seconds = base::seconds(sum.total_ns);
      edge.waits += sum.waits;
      edge.seconds += seconds;
      if (seconds <= edge.seconds_of_pair) continue;
      edge.seconds_of_pair = seconds;
      std::tie(edge.rank, edge.awaited) = pair;
    }
    list.push_back(std::move(edge));
  }
  return list;
}

std::string why_no_waits(const Coverage& coverage) {
  if (!coverage.waits_unknown.empty() || coverage.cut_short.empty()) return coverage.waits_unknown;
  return "the run ended before MPI_Finalize, where they are found (" + coverage.cut_short + ")";
}

PathSummary summed_up(const CriticalPath& path, const Selection& selection) {
  PathSummary summary{path.window, base::seconds(path.elapsed_ns),
                      path.jumps,  base::seconds(path.error_ns),
                      {},          {}};
  std::map<std::tuple<std::string, std::int64_t, bool>, std::map<std::int64_t, double>> shares;
  std::map<std::int64_t, double> ranks;
  for (const PathPart& part : path.parts) {
    if (!selection.admits(part)) continue;
    auto& share = shares[{part.function, part.site, part.program}];
    for (std::size_t row = 0; row < part.rank.size(); ++row) {
      share[part.rank[row]] += base::seconds(part.total_ns[row]);
      ranks[part.rank[row]] += base::seconds(part.total_ns[row]);
    }
  }
  for (const auto& [key, by_rank] : shares) {
    PathShare share;
    std::tie(share.function, share.site, share.program) = key;
    share.ranks.assign(by_rank.begin(), by_rank.end());
    base::sort_stably(share.ranks,
                      [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [rank, seconds] : by_rank) share.seconds += seconds;
    summary.shares.push_back(std::move(share));
  }
  most_seconds_first(summary.shares);
  summary.ranks.assign(ranks.begin(), ranks.end());
  return summary;
}

}  // namespace fathom::profile
