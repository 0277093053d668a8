// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/whole_patterns.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "analysis/traffic/histograms.h"
#include "analysis/traffic/percent.h"
#include "profile/pair_sums.h"
#include "profile/summary.h"

namespace fathom::analysis {

std::optional<Pattern> rooted_concentration(const ClassTraffic& traffic,
                                            const Thresholds& thresholds) {
  if (!is_rooted_collective(traffic.class_name)) return std::nullopt;
  const RootShare root = root_share(traffic);
  // With two ranks, one is always the root of half, so few ranks prove nothing.
  if (root.ranks < thresholds.few_ranks || root.share < 0.5) return std::nullopt;
  Pattern pattern;
  pattern.kind = "rooted-concentration";
  pattern.class_name = traffic.class_name;
  pattern.hidden = traffic.hidden;
  pattern.hub = root.rank;
  pattern.ranks = {root.rank};
  pattern.communicators.assign(traffic.communicators.begin(), traffic.communicators.end());
  pattern.share = pattern.strength = root.share;
  pattern.description =
      "rank " + std::to_string(root.rank) + " is the root of " + percent(root.share) + " of it";
  return pattern;
}

std::optional<Pattern> density_pattern(const profile::Profile& profile,
                                       const Thresholds& thresholds,
                                       const std::vector<Pattern>& found) {
  const std::int64_t ranks = profile::rank_count(profile);
  const std::vector<profile::PairCount> pairs = profile::sum_pairs(profile);
  const double density = profile::density(pairs, ranks);
  if (pairs.empty() || static_cast<double>(ranks) < thresholds.density_ranks) return std::nullopt;
  const bool explained = std::any_of(found.begin(), found.end(), [&](const Pattern& pattern) {
    return pattern.kind == "all-to-all" && std::ssize(pattern.ranks) == ranks;
  });
  Pattern pattern;
  pattern.pair_count = pairs.size();
  pattern.share = pattern.of_all = 1;
  if (density >= thresholds.dense_pairs && !explained) {
    pattern.kind = "dense";
    pattern.strength = density;
  } else if (density <= thresholds.sparse_pairs) {
    pattern.kind = "sparse";
    pattern.strength = 1 - density;
  } else {
    return std::nullopt;
  }
  pattern.description = percent(density) + " of the pairs of different ranks communicate";
  return pattern;
}

std::optional<Pattern> small_message_pattern(const profile::Profile& profile,
                                             const Thresholds& thresholds) {
  const SmallMessages small =
      analysis::small_messages(histogram_of_all(profile), thresholds.small_message_bytes);
  if (static_cast<double>(small.of_messages) < thresholds.few_messages) return std::nullopt;
  const double share = static_cast<double>(small.messages) / static_cast<double>(small.of_messages);
  if (share < 0.5) return std::nullopt;
  Pattern pattern;
  pattern.kind = "small-message-dominated";
  pattern.share = pattern.strength = share;
  pattern.of_all = small.of_bytes > 0 ? small.bytes / small.of_bytes : 1;
  pattern.description = percent(share) + " of the messages are smaller than " +
                        std::to_string(static_cast<std::uint64_t>(thresholds.small_message_bytes)) +
                        " B";
  return pattern;
}

}  // namespace fathom::analysis
