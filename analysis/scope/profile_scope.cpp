// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/scope/profile_scope.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

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

// Keeps the rows of the chosen ranks in parallel columns, of which `rank` is one.
template <typename... Columns>
void keep_rows_of(const std::set<std::int64_t>& ranks, const std::vector<std::int64_t>& rank,
                  Columns&... columns) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < rank.size(); ++row) {
    if (ranks.contains(rank[row])) rows.push_back(row);
  }
  const auto keep = [&rows](auto& column) {
    if (column.empty()) return;  // one that is left out
    for (std::size_t i = 0; i < rows.size(); ++i) column[i] = column[rows[i]];
    column.resize(rows.size());
  };
  (keep(columns), ...);
}

template <typename Blocks>
void keep_selected(const profile::Selection& selection, Blocks& blocks) {
  std::erase_if(blocks, [&](const auto& block) { return !selection.admits(block); });
}

}  // namespace

base::Result<profile::Profile> restrict_profile(profile::Profile profile, const Scope& scope,
                                                Sizes sizes) {
  const auto selection = profile::selection_of(
      {scope.classes, scope.communicators, scope.phases.value_or(std::vector<std::string>())},
      profile);
  if (!selection) return selection.error();
  keep_selected(*selection, profile.traffic);
  keep_selected(*selection, profile.message_sizes);
  keep_selected(*selection, profile.calls);
  keep_selected(*selection, profile.waits);
  if (scope.ranks) {
    if (auto known = check_ranks(profile, *scope.ranks); !known) return known.error();
    for (profile::Traffic& block : profile.traffic) keep_pairs_of(*scope.ranks, block);
    std::erase_if(profile.traffic,
                  [](const profile::Traffic& block) { return block.source.empty(); });
    for (profile::CallTimes& block : profile.calls)
      // `rank` may be among the columns, because keep_rows_of() looks at it before it changes any.
      keep_rows_of(*scope.ranks, block.rank, block.rank, block.calls, block.total_ns,
                   block.shortest_ns, block.longest_ns, block.bytes, block.estimated);
    for (profile::CallWaits& block : profile.waits)
      keep_rows_of(*scope.ranks, block.rank, block.awaited, block.waits, block.total_ns,
                   block.longest_ns, block.rank);
  }
  if (scope.ranks && sizes == Sizes::kOfAllRanks) profile.message_sizes.clear();
  return profile;
}

std::int64_t chosen_ranks(const profile::Profile& profile, const Scope& scope) {
  return scope.ranks ? std::ssize(*scope.ranks)
                     : std::max<std::int64_t>(profile::rank_count(profile), 1);
}

std::uint64_t all_ranks_ns(const profile::Profile& profile, const Scope& scope) {
  return static_cast<std::uint64_t>(std::llround(profile.application.seconds * 1e9)) *
         static_cast<std::uint64_t>(chosen_ranks(profile, scope));
}

}  // namespace fathom::analysis
