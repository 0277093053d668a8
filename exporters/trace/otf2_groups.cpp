// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/trace/otf2_groups.h"

#include <otf2/otf2.h>

#include <algorithm>

#include "exporters/trace/trace_exporter.h"

namespace fathom::exporters {

std::vector<std::size_t> parents_first(const std::vector<profile::Communicator>& communicators) {
  std::vector<std::size_t> order, ancestors;
  std::vector<bool> listed(communicators.size());
  for (std::size_t self = 0; self < communicators.size(); ++self) {
    ancestors.clear();
    for (std::size_t at = self; at < communicators.size() && !listed[at];
         at = static_cast<std::size_t>(communicators[at].parent)) {  // none is beyond all positions
      listed[at] = true;
      ancestors.push_back(at);
    }
    order.insert(order.end(), ancestors.rbegin(), ancestors.rend());
  }
  return order;
}

Otf2Groups::Otf2Groups(const trace::Definitions& definitions)
    : definitions_(definitions),
      groups_(definitions.communicators.size()),
      ranks_(rank_count(definitions)) {
  for (const std::size_t self : parents_first(definitions.communicators)) {
    const profile::Communicator& row = definitions.communicators[self];
    Group& group = groups_[self];
    for (const auto* side : {&row.world_ranks, &row.remote_world_ranks}) {
      for (const std::int64_t rank : *side) add(group, rank);
    }
    const auto parent = static_cast<std::size_t>(row.parent);
    const bool of_self = parent < groups_.size() && groups_[parent].is_self;
    group.is_self = group.members.empty() && (row.made_by == "predefined" || of_self);
    group.of_all_ranks = group.members.empty() && !group.is_self;
  }
  all_ranks_ = ranks_;
}

std::int64_t Otf2Groups::add(Group& group, std::int64_t rank) {
  if (rank < 0 || rank >= kMostListedRanks) rank = profile::kNone;
  unknown_rank_met_ |= rank == profile::kNone;
  ranks_ = std::max(ranks_, rank + 1);
  group.members.push_back(rank);
  return rank;
}

std::vector<std::uint64_t> Otf2Groups::members(std::size_t communicator) const {
  const Group& group = groups_[communicator];
  std::vector<std::uint64_t> listed;
  for (std::int64_t rank = 0; group.of_all_ranks && rank < all_ranks_; ++rank) {
    listed.push_back(static_cast<std::uint64_t>(rank));
  }
  for (const std::int64_t rank : group.members) {
    listed.push_back(static_cast<std::uint64_t>(rank == profile::kNone ? ranks_ : rank));
  }
  return listed;
}

std::optional<std::uint32_t> Otf2Groups::position(Group& group, std::int64_t rank) {
  if (group.of_all_ranks && rank >= 0 && rank < all_ranks_) return static_cast<std::uint32_t>(rank);
  for (; group.mapped < group.members.size(); ++group.mapped) {
    group.positions.emplace(group.members[group.mapped], static_cast<std::uint32_t>(group.mapped));
  }
  const auto found = group.positions.find(rank);
  if (found == group.positions.end()) return std::nullopt;
  return found->second + static_cast<std::uint32_t>(group.of_all_ranks ? all_ranks_ : 0);
}

std::uint32_t Otf2Groups::find(std::int32_t communicator, std::int32_t world_rank) {
  if (!is_known(communicator) || world_rank < 0) return OTF2_UNDEFINED_UINT32;
  Group& group = groups_[static_cast<std::size_t>(communicator)];
  return group.is_self ? 0 : position(group, world_rank).value_or(OTF2_UNDEFINED_UINT32);
}

std::uint32_t Otf2Groups::peer(const trace::Event& event) {
  if (!is_known(event.communicator)) return static_cast<std::uint32_t>(event.comm_peer);
  Group& group = groups_[static_cast<std::size_t>(event.communicator)];
  if (group.is_self) return 0;
  const auto comm_peer = static_cast<std::size_t>(event.comm_peer);
  // The peer's rank in the communicator usually is its position.
  if (event.comm_peer >= 0 && event.peer >= 0 && comm_peer < group.members.size() &&
      group.members[comm_peer] == event.peer && !group.of_all_ranks) {
    return static_cast<std::uint32_t>(event.comm_peer);
  }
  const std::int64_t rank = event.peer < 0 ? profile::kNone : event.peer;
  if (const auto known = position(group, rank)) return *known;
  return *position(group, add(group, rank));
}

std::string Otf2Groups::property() const {
  std::string text;
  for (std::size_t self = 0; self < groups_.size(); ++self) {
    const profile::Communicator& row = definitions_.communicators[self];
    std::string made_by = row.made_by;
    std::replace(made_by.begin(), made_by.end(), '|', ' ');
    text += (self ? "|" : "") + made_by + ':' + std::to_string(row.world_ranks.size()) + ':' +
            std::to_string(row.remote_world_ranks.size());
  }
  return text;
}

}  // namespace fathom::exporters
