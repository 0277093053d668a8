// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/scope/profile_scope.h"

#include <algorithm>
#include <set>
#include <string>

#include "profile/selection.h"
#include "profile/summary.h"

namespace fathom::analysis {
namespace {

base::Status check_ranks(const profile::Profile& profile, const std::set<std::int64_t>& ranks) {
  const std::int64_t count = profile::rank_count(profile);
  for (const std::int64_t rank : ranks) {
    if (rank >= 0 && rank < count) continue;
    return base::Error{"the run has no rank " + std::to_string(rank) + "; its ranks are 0 to " +
                       std::to_string(count - 1)};
  }
  return base::Done{};
}

void keep_pairs_of(const std::set<std::int64_t>& ranks, profile::Traffic& block) {
  std::size_t kept = 0;
  for (std::size_t row = 0; row < block.source.size(); ++row) {
    if (!ranks.contains(block.source[row]) && !ranks.contains(block.destination[row])) continue;
    block.source[kept] = block.source[row];
    block.destination[kept] = block.destination[row];
    block.bytes[kept] = block.bytes[row];
    block.messages[kept] = block.messages[row];
    ++kept;
  }
  block.source.resize(kept);
  block.destination.resize(kept);
  block.bytes.resize(kept);
  block.messages.resize(kept);
}

}  // namespace

base::Result<profile::Profile> restrict_profile(profile::Profile profile, const Scope& scope) {
  const auto selection = profile::selection_of(
      {scope.classes, scope.communicators, scope.phases.value_or(std::vector<std::string>())},
      profile);
  if (!selection) return selection.error();
  std::erase_if(profile.traffic,
                [&](const profile::Traffic& block) { return !selection->admits(block); });
  std::erase_if(profile.message_sizes,
                [&](const profile::MessageSizes& sizes) { return !selection->admits(sizes); });
  if (scope.ranks) {
    if (auto known = check_ranks(profile, *scope.ranks); !known) return known.error();
    for (profile::Traffic& block : profile.traffic) keep_pairs_of(*scope.ranks, block);
    std::erase_if(profile.traffic,
                  [](const profile::Traffic& block) { return block.source.empty(); });
  }
  // Message sizes cover all ranks, so they do not apply to some of them.
  if (scope.ranks) profile.message_sizes.clear();
  return profile;
}

}  // namespace fathom::analysis
