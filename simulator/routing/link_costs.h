// SPDX-License-Identifier: BSD-3-Clause
// What the load of each link costs a router that wants to avoid loaded links.
//
// The cost is bytes over capacity, scaled so that the fastest link costs its bytes: where all links
// are equally fast, costs are whole numbers, and equal loads compare equal. Links from a host's
// only neighbour or to it are no choice and cost nothing.
#pragma once

#include <span>
#include <vector>

#include "simulator/routing/routing.h"

namespace fathom::simulator {

class LinkCosts {
 public:
  explicit LinkCosts(const Network& network);

  // Forgets all and starts from what others use.
  void start(const LinkUse& background);
  void add(std::span<const LinkId> way, double bytes) {
    for (const LinkId link : way) cost_[link] += bytes * per_byte_[link];
  }
  bool counts(LinkId link) const { return per_byte_[link] > 0; }
  double of(LinkId link) const { return cost_[link]; }

 private:
  std::vector<double> per_byte_;  // by link
  std::vector<double> cost_;      // by link
};

// Indices of the demands, heaviest first, equally heavy ones in the order given.
std::vector<std::uint32_t> order_by_weight(std::span<const Demand> demands);

}  // namespace fathom::simulator
