// SPDX-License-Identifier: BSD-3-Clause
#include "profile/pair_sums.h"

#include <algorithm>
#include <utility>

namespace fathom::profile {
namespace {

// With fewer rows than this, merging is not worth the sort.
constexpr std::size_t kFewRows = 65'536;

bool before(const PairCount& left, const PairCount& right) {
  return std::pair(left.source, left.destination) < std::pair(right.source, right.destination);
}

bool same_pair(const PairCount& left, const PairCount& right) {
  return left.source == right.source && left.destination == right.destination;
}

}  // namespace

void PairSums::add(const PairCount& pair) {
  if (pairs_.size() >= kFewRows && pairs_.size() >= 2 * merged_) merge();
  pairs_.push_back(pair);
}

void PairSums::add(const Traffic& traffic) {
  for (std::size_t row = 0; row < traffic.source.size(); ++row) {
    add({traffic.source[row], traffic.destination[row], traffic.bytes[row], traffic.messages[row]});
  }
}

void PairSums::merge() {
  const auto middle = pairs_.begin() + static_cast<std::ptrdiff_t>(merged_);
  std::sort(middle, pairs_.end(), before);
  std::inplace_merge(pairs_.begin(), middle, pairs_.end(), before);
  std::size_t kept = 0;
  for (std::size_t at = 0; at < pairs_.size(); ++at) {
    if (kept > 0 && same_pair(pairs_[kept - 1], pairs_[at])) {
      pairs_[kept - 1].bytes += pairs_[at].bytes;
      pairs_[kept - 1].messages += pairs_[at].messages;
    } else {
      pairs_[kept++] = pairs_[at];
    }
  }
  pairs_.resize(kept);
  merged_ = kept;
}

std::vector<PairCount> PairSums::take() {
  merge();
  merged_ = 0;
  return std::exchange(pairs_, {});
}

std::vector<PairCount> sum_pairs(const Profile& profile, const Selection& selection) {
  PairSums sums;
  for (const Traffic& traffic : profile.traffic) {
    if (selection.admits(traffic)) sums.add(traffic);
  }
  return sums.take();
}

bool on_one_host(const Header& header, std::int64_t one, std::int64_t other) {
  std::string hosts[2];
  for (const Rank& rank : header.ranks) {
    if (rank.rank == one) hosts[0] = rank.host;
    if (rank.rank == other) hosts[1] = rank.host;
  }
  return !hosts[0].empty() && hosts[0] == hosts[1];
}

std::vector<PairCount> symmetrised(const std::vector<PairCount>& pairs) {
  PairSums sums;
  for (const PairCount& pair : pairs) {
    sums.add({std::min(pair.source, pair.destination), std::max(pair.source, pair.destination),
              pair.bytes, pair.messages});
  }
  return sums.take();
}

}  // namespace fathom::profile
