// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/communicator_grid.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/order/sort_stably.h"

namespace fathom::analysis {
namespace {

using Ranks = std::vector<std::int64_t>;

// Communicators of one size, made in one way from one parent, no two of which share a rank.
struct Division {
  std::vector<const profile::Communicator*> parts;
  std::unordered_set<std::int64_t> ranks;

  bool has_room_for(const profile::Communicator& part) const {
    return std::none_of(part.world_ranks.begin(), part.world_ranks.end(),
                        [this](std::int64_t rank) { return ranks.contains(rank); });
  }
};

using Key = std::tuple<std::int64_t, std::string, std::size_t>;  // parent, constructor, size

std::map<Key, std::vector<Division>> divisions_of(const profile::Profile& profile) {
  std::map<Key, std::vector<Division>> all;
  for (const profile::Communicator& part : profile.communicators) {
    if (part.internal || !part.remote_world_ranks.empty() || part.world_ranks.size() < 2 ||
        part.parent == profile::kNone)
      continue;
    auto& divisions = all[{part.parent, part.made_by, part.world_ranks.size()}];
    auto division = std::find_if(divisions.begin(), divisions.end(),
                                 [&](const Division& other) { return other.has_room_for(part); });
    if (division == divisions.end()) division = divisions.insert(divisions.end(), Division{});
    division->parts.push_back(&part);
    division->ranks.insert(part.world_ranks.begin(), part.world_ranks.end());
  }
  return all;
}

// As the parent numbers them, if they are its ranks; else ascending.
Ranks in_order(const Division& division, std::int64_t parent, const profile::Profile& profile) {
  for (const profile::Communicator& other : profile.communicators) {
    if (other.id != parent || other.world_ranks.size() != division.ranks.size()) continue;
    if (std::all_of(other.world_ranks.begin(), other.world_ranks.end(),
                    [&](std::int64_t rank) { return division.ranks.contains(rank); }))
      return other.world_ranks;
  }
  Ranks ranks(division.ranks.begin(), division.ranks.end());
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::optional<CommunicatorGrid> grid_of(const Division& division, Ranks ranks) {
  const auto lines = static_cast<std::int64_t>(division.parts.size());
  const auto length = static_cast<std::int64_t>(division.parts[0]->world_ranks.size());
  if (lines < 2) return {};
  std::unordered_map<std::int64_t, std::int64_t> place;
  for (std::size_t i = 0; i < ranks.size(); ++i) place[ranks[i]] = static_cast<std::int64_t>(i);
  bool rows = true, columns = true;
  std::vector<std::pair<std::int64_t, std::int64_t>> order;  // first place, id
  for (const profile::Communicator* part : division.parts) {
    std::vector<std::int64_t> places;
    for (const std::int64_t rank : part->world_ranks) places.push_back(place.at(rank));
    std::sort(places.begin(), places.end());
    for (const std::int64_t at : places) {
      rows = rows && at / length == places[0] / length;
      columns = columns && at % lines == places[0] % lines;
    }
    order.emplace_back(places[0], part->id);
  }
  if (!rows && !columns) return {};
  std::sort(order.begin(), order.end());
  CommunicatorGrid grid{rows ? GridLines::kRows : GridLines::kColumns,
                        rows ? lines : length,
                        rows ? length : lines,
                        {},
                        std::move(ranks)};
  for (const auto& [first, id] : order) grid.communicators.push_back(id);
  return grid;
}

}  // namespace

std::vector<CommunicatorGrid> communicator_grids(const profile::Profile& profile) {
  std::vector<CommunicatorGrid> grids;
  for (const auto& [key, divisions] : divisions_of(profile)) {
    for (const Division& division : divisions) {
      if (auto grid = grid_of(division, in_order(division, std::get<0>(key), profile)))
        grids.push_back(std::move(*grid));
    }
  }
  base::sort_stably(grids, [](const CommunicatorGrid& a, const auto& b) {
    return a.lines == GridLines::kRows && b.lines == GridLines::kColumns;
  });
  return grids;
}

}  // namespace fathom::analysis
