// SPDX-License-Identifier: BSD-3-Clause
#include "profile/communicator_merge.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

namespace fathom::profile {
namespace {

std::string trimmed(const char* text, std::size_t size) { return {text, strnlen(text, size)}; }

bool is_world(const CommunicatorRow& row, const std::string& name) {
  return (row.flags & kPredefined) != 0 && name == "MPI_COMM_WORLD";
}

// By position. Empty if a member left nothing, because a list with holes would name wrong ranks.
std::vector<std::int64_t> listed(const std::map<std::uint32_t, std::int64_t>& members,
                                 std::uint32_t size) {
  std::vector<std::int64_t> ranks;
  if (members.size() != size) return ranks;
  for (const auto& [position, rank] : members) ranks.push_back(rank);
  return ranks;
}

}  // namespace

std::int64_t ProcessNumbers::number(ProcessName who) {
  if (who.first == job_ && who.second < world_size_) return who.second;
  const auto next = world_size_ + static_cast<std::int64_t>(foreign_.size());
  return foreign_.emplace(who, next).first->second;
}

std::vector<std::int64_t> ProcessNumbers::settle() {
  std::vector<std::int64_t> settled(foreign_.size());
  std::int64_t next = world_size_;
  for (auto& [who, number] : foreign_) {
    settled[static_cast<std::size_t>(number - world_size_)] = next;
    number = next++;
  }
  return settled;
}

void CommunicatorMerge::add_row(const CommunicatorRow& row, Sighting sighting,
                                std::vector<std::uint32_t>& kind_of) {
  const auto [found, is_new] =
      kinds_by_key_.emplace(row.key, static_cast<std::uint32_t>(kinds_.size()));
  if (is_new) {
    kinds_.emplace_back();
    kinds_.back().row = row;
    kinds_.back().first = sighting;
    kinds_.back().ordinal_key = row.ordinal_key;
  }
  Kind& kind = kinds_[found->second];
  kind_of.push_back(found->second);
  if (row.ordinal_key != kind.ordinal_key) kind.ordinal_key = 0;
  if (sighting < kind.first) {
    if (row.group_key != kind.row.group_key) std::swap(kind.local, kind.remote);
    kind.row = row;
    kind.first = sighting;
  }
  kind.instances = std::max(kind.instances, row.instances);
  kind.internal &= (row.flags & kInternal) != 0;  // visible if the program saw it on any process
  const std::string name = trimmed(row.name, sizeof row.name);
  if (!name.empty() && (kind.name.empty() || sighting < kind.named)) {
    kind.name = name;
    kind.named = sighting;
  }
  if (row.flags & (kPerProcess | kNotMember)) return;
  Members& side = row.group_key == kind.row.group_key ? kind.local : kind.remote;
  side[row.my_rank] = sighting.first;
}

std::vector<std::uint32_t> CommunicatorMerge::add(
    std::int64_t rank, const std::vector<CommunicatorRow>& rows,
    const std::vector<ForeignMemberRow>& foreign_members, ProcessNumbers& numbers) {
  std::vector<std::uint32_t> kind_of;
  for (const CommunicatorRow& row : rows) {
    add_row(row, {rank, static_cast<std::uint32_t>(kind_of.size())}, kind_of);
  }
  for (const ForeignMemberRow& member : foreign_members) {
    if (member.communicator >= kind_of.size()) continue;
    Kind& kind = kinds_[kind_of[member.communicator]];
    // `remote` is from the point of view of the process that wrote the row.
    const bool teller_is_local = rows[member.communicator].group_key == kind.row.group_key;
    Members& side = (member.remote != 0) == teller_is_local ? kind.remote : kind.local;
    side[member.position] = numbers.number({member.job, member.rank});
  }
  return kind_of;
}

// Predefined ones first, then in the order in which the lowest rank met them.
std::vector<std::uint32_t> CommunicatorMerge::in_order() const {
  std::vector<std::uint32_t> order(kinds_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto place = [this](std::uint32_t kind) {
    return std::make_tuple((kinds_[kind].row.flags & kPredefined) == 0, kinds_[kind].first);
  };
  std::sort(order.begin(), order.end(),
            [&place](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
  return order;
}

// Merges `kind` into `into`, which was met first.
void CommunicatorMerge::fold(Kind& kind, Kind& into) {
  into.instances += kind.instances;
  into.internal &= kind.internal;
  if (into.name.empty()) into.name = kind.name;
  if (kind.row.group_key != into.row.group_key) std::swap(kind.local, kind.remote);
  into.local.merge(kind.local);
  into.remote.merge(kind.remote);
}

std::vector<Communicator> CommunicatorMerge::finish(std::int64_t world_size,
                                                    const std::vector<std::int64_t>& foreign) {
  world_size_ = world_size;
  for (Kind& kind : kinds_) {
    for (Members* side : {&kind.local, &kind.remote}) {
      for (auto& [position, number] : *side) {
        if (number >= world_size) number = foreign[static_cast<std::size_t>(number - world_size)];
      }
    }
  }
  std::map<std::uint64_t, std::uint32_t> first_of_key;
  std::vector<std::uint32_t> firsts;
  first_alike_.assign(kinds_.size(), 0);
  id_of_kind_.assign(kinds_.size(), 0);
  for (const std::uint32_t number : in_order()) {
    const std::uint64_t key = kinds_[number].ordinal_key;
    const std::uint32_t first = key == 0 ? number : first_of_key.emplace(key, number).first->second;
    first_alike_[number] = first;
    if (first != number) {
      fold(kinds_[number], kinds_[first]);
      continue;
    }
    id_of_kind_[number] = static_cast<std::int64_t>(firsts.size());
    firsts.push_back(number);
  }
  std::vector<Communicator> communicators;
  for (const std::uint32_t number : firsts) {
    const Kind& kind = kinds_[number];
    Communicator communicator;
    communicator.id = id_of_kind_[number];
    communicator.name = kind.name;
    communicator.made_by = trimmed(kind.row.made_by, sizeof kind.row.made_by);
    communicator.internal = kind.internal;
    communicator.instances = kind.instances;
    const auto parent = kinds_by_key_.find(kind.row.parent_key);
    if (kind.row.parent_key != 0 && parent != kinds_by_key_.end()) {
      communicator.parent = id_of(parent->second);
    }
    if (!(kind.row.flags & kPerProcess)) {
      communicator.world_ranks = is_world(kind.row, kind.name) ? members(number, false)
                                                               : listed(kind.local, kind.row.size);
      communicator.remote_world_ranks = listed(kind.remote, kind.row.remote_size);
    }
    communicators.push_back(std::move(communicator));
  }
  return communicators;
}

std::vector<std::int64_t> CommunicatorMerge::members(std::uint32_t number, bool remote) const {
  const Kind& kind = kinds_[first_alike_[number]];
  std::vector<std::int64_t> ranks;
  if (kind.row.flags & kPerProcess) return ranks;
  if (!remote && is_world(kind.row, kind.name)) {
    ranks.resize(static_cast<std::size_t>(world_size_));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
  }
  for (const auto& [position, rank] : remote ? kind.remote : kind.local) {
    if (position >= (1u << kPeerBits)) break;  // damaged: Fathom cannot count such a group
    ranks.resize(position + 1, kNone);
    ranks[position] = rank;
  }
  return ranks;
}

}  // namespace fathom::profile
