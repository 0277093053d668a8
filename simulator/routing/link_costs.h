// SPDX-License-Identifier: BSD-3-Clause
// The cost of each link's load for a router that avoids loaded links.
//
// The cost is bytes over capacity, scaled so that the fastest link costs its bytes: if all links
// are equally fast, costs are whole numbers, and equal loads compare equal. Links to or from a
// host's only neighbour cost nothing because they leave no choice.
#pragma once

#include <span>
#include <vector>

#include "simulator/routing/routing.h"

namespace fathom::simulator {

class LinkCosts {
 public:
  explicit LinkCosts(const Network& network);

  // Resets all loads to those of `background`.
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

// Indices of the demands, heaviest first; equally heavy ones in the order given.
std::vector<std::uint32_t> order_by_weight(std::span<const Demand> demands);

}  // namespace fathom::simulator
