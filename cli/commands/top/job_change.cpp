// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/top/job_change.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace fathom::cli {
namespace {

// Counters only grow; where one does not, the two samples are of different processes.
double grown(double now, double before) { return std::max(0.0, now - before); }
double grown(std::uint64_t now, std::uint64_t before) {
  return now > before ? static_cast<double>(now - before) : 0;
}

std::uint64_t missing(std::uint64_t sent, std::uint64_t received) {
  return sent > received ? sent - received : 0;
}

double share(double part, double whole) {
  return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
}

using PairKey = std::tuple<std::int32_t, std::int32_t, std::string>;
PairKey key_of(const live::PairState& pair) { return {pair.from, pair.to, pair.kind}; }

RankActivity activity_of(const live::RankState& rank, const live::RankState* before) {
  RankActivity made;
  made.state = &rank;
  const live::RankState start;
  const live::RankState& since = before == nullptr ? start : *before;
  const double seconds = grown(rank.elapsed_s, since.elapsed_s);
  made.mpi_share = share(grown(rank.mpi_s, since.mpi_s), seconds);
  made.wait_share = share(grown(rank.waiting_s, since.waiting_s), seconds);
  if (before == nullptr || seconds <= 0) return made;
  made.sent_per_s = grown(rank.sent_bytes, since.sent_bytes) / seconds;
  made.received_per_s = grown(rank.received_bytes, since.received_bytes) / seconds;
  return made;
}

}  // namespace

JobChange::JobChange(const live::JobState& now, const live::JobState& earlier,
                     const std::string& kind) {
  if (!earlier.ranks.empty()) seconds = grown(now.taken_at_s, earlier.taken_at_s);
  std::map<std::int32_t, const live::RankState*> before;
  for (const live::RankState& rank : earlier.ranks) before[rank.rank] = &rank;
  std::map<std::int32_t, std::size_t> at;
  for (const live::RankState& rank : now.ranks) {
    const auto found = before.find(rank.rank);
    at[rank.rank] = ranks.size();
    ranks.push_back(activity_of(rank, found == before.end() ? nullptr : found->second));
    mpi_share += ranks.back().mpi_share / static_cast<double>(now.ranks.size());
    if (rank.unexpected) unexpected = unexpected.value_or(0) + *rank.unexpected;
  }
  std::map<PairKey, const live::PairState*> pairs_before;
  for (const live::PairState& pair : earlier.pairs) pairs_before[key_of(pair)] = &pair;
  for (const live::PairState& pair : now.pairs) {
    if (!kind.empty() && pair.kind != kind) continue;
    const auto found = pairs_before.find(key_of(pair));
    PairActivity made{.state = &pair,
                      .backlog = missing(pair.sent, pair.received),
                      .backlog_bytes = missing(pair.sent_bytes, pair.received_bytes)};
    if (seconds > 0) {
      const live::PairState start;
      const live::PairState& since = found == pairs_before.end() ? start : *found->second;
      made.bytes_per_s = grown(pair.sent_bytes, since.sent_bytes) / seconds;
      made.messages_per_s = grown(pair.sent, since.sent) / seconds;
    }
    if (const auto receiver = at.find(pair.to); receiver != at.end())
      ranks[receiver->second].backlog += made.backlog;
    bytes += pair.sent_bytes;
    messages += pair.sent;
    bytes_per_s += made.bytes_per_s;
    messages_per_s += made.messages_per_s;
    backlog += made.backlog;
    pairs.push_back(made);
  }
  std::ranges::stable_sort(pairs, [](const PairActivity& one, const PairActivity& other) {
    return std::tuple(one.bytes_per_s, one.state->sent_bytes) >
           std::tuple(other.bytes_per_s, other.state->sent_bytes);
  });
}

void JobChange::sort(RankOrder order) {
  const auto value = [order](const RankActivity& rank) {
    switch (order) {
      case RankOrder::kWaiting: return std::pair(rank.wait_share, rank.state->waiting_s);
      case RankOrder::kMpi: return std::pair(rank.mpi_share, rank.state->mpi_s);
      case RankOrder::kTraffic:
        return std::pair(rank.sent_per_s + rank.received_per_s,
                         static_cast<double>(rank.state->sent_bytes + rank.state->received_bytes));
      case RankOrder::kRank: break;
    }
    return std::pair(-static_cast<double>(rank.state->rank), 0.0);
  };
  std::ranges::stable_sort(ranks, [&](const RankActivity& one, const RankActivity& other) {
    return value(one) > value(other);
  });
}

}  // namespace fathom::cli
