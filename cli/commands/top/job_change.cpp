// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/top/job_change.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

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

auto key_of(const live::PairState& pair) { return std::tie(pair.from, pair.to, pair.kind); }

// The pairs of the earlier state. A large job has millions, in the order in which they are asked for.
class EarlierPairs {
 public:
  explicit EarlierPairs(const std::vector<live::PairState>& pairs) {
    pairs_.reserve(pairs.size());
    for (const live::PairState& pair : pairs) pairs_.push_back(&pair);
    const auto comes_before = [](const live::PairState* one, const live::PairState* other) {
      return key_of(*one) < key_of(*other);
    };
    if (!std::ranges::is_sorted(pairs_, comes_before)) std::ranges::sort(pairs_, comes_before);
  }

  // nullptr if there is none.
  const live::PairState* find(const live::PairState& pair) {
    if (next_ == pairs_.size() || key_of(*pairs_[next_]) != key_of(pair)) {
      const auto found = std::ranges::lower_bound(
          pairs_, pair,
          [](const live::PairState& one, const live::PairState& other) {
            return key_of(one) < key_of(other);
          },
          [](const live::PairState* each) -> const live::PairState& { return *each; });
      next_ = static_cast<std::size_t>(found - pairs_.begin());
      if (found == pairs_.end() || key_of(**found) != key_of(pair)) return nullptr;
    }
    return pairs_[next_++];
  }

 private:
  std::vector<const live::PairState*> pairs_;
  std::size_t next_ = 0;
};

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
  std::unordered_map<std::int32_t, const live::RankState*> before;
  for (const live::RankState& rank : earlier.ranks) before[rank.rank] = &rank;
  std::unordered_map<std::int32_t, std::size_t> at;
  for (const live::RankState& rank : now.ranks) {
    const auto found = before.find(rank.rank);
    at[rank.rank] = ranks.size();
    ranks.push_back(activity_of(rank, found == before.end() ? nullptr : found->second));
    mpi_share += ranks.back().mpi_share / static_cast<double>(now.ranks.size());
    if (rank.unexpected) unexpected = unexpected.value_or(0) + *rank.unexpected;
  }
  EarlierPairs pairs_before(earlier.pairs);
  pairs.reserve(now.pairs.size());
  for (const live::PairState& pair : now.pairs) {
    if (!kind.empty() && pair.kind != kind) continue;
    PairActivity made{.state = &pair,
                      .backlog = missing(pair.sent, pair.received),
                      .backlog_bytes = missing(pair.sent_bytes, pair.received_bytes)};
    if (seconds > 0) {
      static const live::PairState kStart;
      const live::PairState* found = pairs_before.find(pair);
      const live::PairState& since = found == nullptr ? kStart : *found;
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
}

std::vector<const PairActivity*> JobChange::busiest(std::size_t most,
                                                    std::optional<std::int32_t> of) const {
  std::vector<const PairActivity*> found;
  for (const PairActivity& pair : pairs) {
    if (!of || pair.state->from == *of || pair.state->to == *of) found.push_back(&pair);
  }
  most = std::min(most, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(most),
                            [](const PairActivity* one, const PairActivity* other) {
                              return std::tuple(other->bytes_per_s, other->state->sent_bytes, one) <
                                     std::tuple(one->bytes_per_s, one->state->sent_bytes, other);
                            });
  found.resize(most);
  return found;
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
