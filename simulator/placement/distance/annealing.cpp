// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/distance/annealing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace fathom::simulator {
namespace {

constexpr std::size_t kNear = 16;      // places tried around a partner
constexpr double kFarShare = 0.1;      // of the moves: to any place
constexpr double kGroupShare = 0.05;   // of the moves: groups of hosts
constexpr std::uint64_t kStep = 4096;  // moves between two temperatures
constexpr double kRanksMoved = 8;      // exchanges of larger groups are thinned out

}  // namespace

Annealing::Annealing(const PlaceCosts& costs, Places places, std::uint64_t seed)
    : costs_(costs), random_(seed), first_slot_(1, 0), place_(std::move(places)) {
  const std::size_t hosts = costs.slots.size();
  for (std::uint32_t host = 0; host < hosts; ++host) {
    first_slot_.push_back(first_slot_.back() + costs.slots[host]);
    host_of_.insert(host_of_.end(), costs.slots[host], host);
  }
  take_slots();
  std::size_t pairs = 0;
  double bytes = 0;
  for (std::uint32_t rank = 0; rank < place_.size(); ++rank) {
    if (costs.graph.of(rank).empty()) continue;
    talkers_.push_back(rank);
    pairs += costs.graph.of(rank).size();
    bytes += costs.graph.total(rank);
  }
  if (pairs > 0) unit_ = bytes / static_cast<double>(pairs);
  moved_to_.resize(hosts);
  std::iota(moved_to_.begin(), moved_to_.end(), 0u);
  find_near();
  list_groups();
  cost_ = best_cost_ = costs.of(place_);
  best_ = place_;
}

void Annealing::find_near() {
  const auto hosts = static_cast<std::uint32_t>(costs_.slots.size());
  near_count_ = std::min<std::size_t>(kNear, hosts);
  for (std::uint32_t host = 0; host < hosts; ++host) {
    const auto nearest = nearest_hosts(costs_.distances, host, near_count_, random_);
    near_.insert(near_.end(), nearest.begin(), nearest.end());
  }
}

void Annealing::list_groups() {
  const std::size_t hosts = costs_.slots.size();
  if (hosts > 1 && *std::max_element(costs_.slots.begin(), costs_.slots.end()) > 1) {
    std::vector<HostGroup> each;
    for (std::uint32_t host = 0; host < hosts; ++host) each.push_back({host});
    levels_.push_back(std::move(each));
  }
  levels_.insert(levels_.end(), costs_.levels.begin(), costs_.levels.end());
  for (const std::vector<HostGroup>& level : levels_) {
    group_of_.emplace_back(hosts);
    for (std::uint32_t group = 0; group < level.size(); ++group) {
      for (const std::uint32_t host : level[group]) group_of_.back()[host] = group;
    }
  }
}

void Annealing::run(const Cooling& cooling, double enough,
                    const std::function<void(double)>& progress) {
  if (place_ != best_) start_from_best();
  if (talkers_.empty() || host_of_.size() < 2) return;
  const std::uint64_t steps = std::max<std::uint64_t>(1, cooling.moves / kStep);
  const double factor = std::pow(cooling.last / cooling.first, 1 / static_cast<double>(steps));
  double temperature = cooling.first * unit_;
  for (std::uint64_t done = 0; done < cooling.moves; done += kStep) {
    const std::uint64_t end = std::min(cooling.moves, done + kStep);
    for (std::uint64_t move = done; move < end; ++move) try_one(temperature);
    temperature *= factor;
    keep_if_best();
    if (best_cost_ <= enough) return;
    if (progress) progress(static_cast<double>(end) / static_cast<double>(cooling.moves));
  }
}

// The ranks of a host take its slots in order.
void Annealing::take_slots() {
  rank_at_.assign(host_of_.size(), kFree);
  slot_of_.resize(place_.size());
  std::vector<std::uint32_t> next(first_slot_.begin(), first_slot_.end() - 1);
  for (std::uint32_t rank = 0; rank < place_.size(); ++rank) {
    slot_of_[rank] = next[place_[rank]]++;
    rank_at_[slot_of_[rank]] = rank;
  }
}

void Annealing::start_from_best() {
  place_ = best_;
  take_slots();
  cost_ = best_cost_;
}

void Annealing::try_one(double temperature) {
  const double kind = random_.unit();
  if (!levels_.empty() && kind < kGroupShare) {
    try_groups(temperature);
    return;
  }
  const std::uint32_t rank = talkers_[random_.below(talkers_.size())];
  const auto slot = kind > 1 - kFarShare
                        ? static_cast<std::uint32_t>(random_.below(host_of_.size()))
                        : slot_on(host_near_partner(rank));
  const std::uint32_t here = place_[rank], there = host_of_[slot], other = rank_at_[slot];
  if (here == there) return;
  double change = change_of(rank, here, there, other);
  if (other != kFree) change += change_of(other, there, here, rank);
  if (accepts(change, temperature)) exchange(slot_of_[rank], slot);
}

std::uint32_t Annealing::host_near_partner(std::uint32_t rank) {
  const auto partners = costs_.graph.of(rank);
  const std::uint32_t partner = partners[random_.below(partners.size())].rank;
  return near_[place_[partner] * near_count_ + random_.below(near_count_)];
}

std::uint32_t Annealing::slot_on(std::uint32_t host) {
  return first_slot_[host] + static_cast<std::uint32_t>(random_.below(costs_.slots[host]));
}

// Change of the cost of `rank` alone, if it goes from here to there. The distance to `other`, which goes the
// opposite way, stays.
double Annealing::change_of(std::uint32_t rank, std::uint32_t here, std::uint32_t there,
                            std::uint32_t other) const {
  const std::uint16_t* const from_here = costs_.distances.from(here).data();
  const std::uint16_t* const from_there = costs_.distances.from(there).data();
  double change = 0;
  for (const RankGraph::Neighbour& edge : costs_.graph.of(rank)) {
    if (edge.rank == other) continue;
    const std::uint32_t at = place_[edge.rank];
    change += edge.bytes * (from_there[at] - from_here[at]);
  }
  return change;
}

bool Annealing::accepts(double change, double temperature) {
  if (change > 0) {
    if (change > 20 * temperature || random_.unit() >= std::exp(-change / temperature))
      return false;
    keep_if_best();
  }
  cost_ += change;
  return true;
}

void Annealing::exchange(std::uint32_t slot, std::uint32_t other) {
  for (const auto& [rank, to] :
       {std::pair(rank_at_[slot], other), std::pair(rank_at_[other], slot)}) {
    if (rank == kFree) continue;
    slot_of_[rank] = to;
    place_[rank] = host_of_[to];
  }
  std::swap(rank_at_[slot], rank_at_[other]);
}

void Annealing::keep_if_best() {
  if (cost_ >= best_cost_) return;
  best_cost_ = cost_;
  best_ = place_;
}

void Annealing::try_groups(double temperature) {
  const std::size_t level = random_.below(levels_.size());
  const std::uint32_t rank = talkers_[random_.below(talkers_.size())];
  const std::uint32_t one = group_of_[level][place_[rank]];
  std::uint32_t other = group_of_[level][host_near_partner(rank)];
  if (other == one || random_.unit() < 0.5)
    other = static_cast<std::uint32_t>(random_.below(levels_[level].size()));
  if (one == other) return;
  const HostGroup &here = levels_[level][one], &there = levels_[level][other];
  if (here.size() != there.size()) return;
  std::size_t moved = 0;
  for (std::size_t at = 0; at < here.size(); ++at) {
    if (costs_.slots[here[at]] != costs_.slots[there[at]]) return;
    moved += costs_.slots[here[at]];
  }
  // Large exchanges take long, so they are tried less often.
  if (static_cast<double>(moved) * random_.unit() > kRanksMoved) return;
  if (!accepts(change_of_groups(here, there), temperature)) return;
  for (std::size_t at = 0; at < here.size(); ++at) {
    for (std::uint32_t slot = 0; slot < costs_.slots[here[at]]; ++slot)
      exchange(first_slot_[here[at]] + slot, first_slot_[there[at]] + slot);
  }
}

double Annealing::change_of_groups(const HostGroup& one, const HostGroup& other) {
  for (std::size_t at = 0; at < one.size(); ++at) {
    moved_to_[one[at]] = other[at];
    moved_to_[other[at]] = one[at];
  }
  double change = 0;
  for (const HostGroup* group : {&one, &other}) {
    for (const std::uint32_t host : *group) {
      const std::uint16_t* const before = costs_.distances.from(host).data();
      const std::uint16_t* const after = costs_.distances.from(moved_to_[host]).data();
      for (std::uint32_t slot = first_slot_[host]; slot < first_slot_[host + 1]; ++slot) {
        if (rank_at_[slot] == kFree) continue;
        for (const RankGraph::Neighbour& edge : costs_.graph.of(rank_at_[slot])) {
          const std::uint32_t at = place_[edge.rank];
          const double hops = after[moved_to_[at]] - before[at];
          change += edge.bytes * (moved_to_[at] == at ? hops : hops / 2);  // both ends are visited
        }
      }
    }
  }
  for (const HostGroup* group : {&one, &other}) {
    for (const std::uint32_t host : *group) moved_to_[host] = host;
  }
  return change;
}

}  // namespace fathom::simulator
