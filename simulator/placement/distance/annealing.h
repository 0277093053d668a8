// SPDX-License-Identifier: BSD-3-Clause
// Simulated annealing of a placement (S. Kirkpatrick, C. Gelatt, M. Vecchi, Optimization by
// simulated annealing, Science 220, 1983) for costs that depend on the distance between the two
// places of a message only:
//
//     cost = sum over pairs of ranks r, s of bytes_rs * distance(place of r, place of s)
//
// A move exchanges what two slots hold: two ranks, or a rank and a free slot. Most moves take a
// rank to a place near one of its partners. Some exchange all ranks of two hosts, or of two groups of
// hosts (place_costs.h).
// A move that adds c to the cost is made with probability exp(-c / temperature). The temperature
// falls geometrically over the number of moves, so the result depends on that number and on the
// seed, but not on the speed of the machine.
//
// Cost: a move takes time in proportion to the number of partners of the ranks it moves. Memory: 64
// bytes per host, and per slot and rank some 30, beside the distances.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/random.h"
#include "simulator/placement/distance/place_costs.h"

namespace fathom::simulator {

struct Cooling {
  std::uint64_t moves = 0;
  // In units of the mean bytes of a pair of partners, that is, of one hop of a mean message.
  double first = 1, last = 0.05;
};

class Annealing {
 public:
  // `costs` must outlive this object; `places` fills no host beyond its slots.
  Annealing(const PlaceCosts& costs, Places places, std::uint64_t seed);

  // May be called repeatedly; each call goes on from the best places so far. Stops early at a cost
  // of `enough`. `progress` is called from time to time with the part that is done, 0 to 1.
  void run(const Cooling& cooling, double enough, const std::function<void(double)>& progress = {});

  // The best places seen, and their cost.
  const Places& best() const { return best_; }
  double best_cost() const { return best_cost_; }
  // Where the last run ended.
  double cost() const { return cost_; }

 private:
  static constexpr std::uint32_t kFree = 0xffffffff;

  void find_near();
  void list_groups();
  void take_slots();
  void start_from_best();
  void try_one(double temperature);
  std::uint32_t host_near_partner(std::uint32_t rank);
  std::uint32_t slot_on(std::uint32_t host);
  double change_of(std::uint32_t rank, std::uint32_t here, std::uint32_t there,
                   std::uint32_t other) const;
  void try_groups(double temperature);
  double change_of_groups(const HostGroup& one, const HostGroup& other);
  bool accepts(double change, double temperature);
  void exchange(std::uint32_t slot, std::uint32_t other);
  void keep_if_best();

  const PlaceCosts& costs_;
  base::Random random_;
  std::vector<std::uint32_t> first_slot_;  // by host, plus one final entry
  std::vector<std::uint32_t> host_of_;     // by slot
  std::vector<std::uint32_t> rank_at_;     // by slot; kFree
  std::vector<std::uint32_t> slot_of_;     // by rank
  std::vector<std::uint32_t> place_;       // by rank: its host
  std::vector<std::uint32_t> near_;        // near_count_ hosts for each host
  std::size_t near_count_ = 0;
  std::vector<std::uint32_t> talkers_;                // ranks with partners
  std::vector<std::vector<HostGroup>> levels_;        // groups that may be exchanged
  std::vector<std::vector<std::uint32_t>> group_of_;  // by level and host
  std::vector<std::uint32_t> moved_to_;  // by host, while the change of groups is computed
  double unit_ = 1;                      // mean bytes of a pair of partners
  double cost_ = 0, best_cost_ = 0;
  Places best_;
};

}  // namespace fathom::simulator
