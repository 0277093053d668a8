// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/routing.h"

namespace fathom::simulator {

void RouteTable::take(std::size_t index, std::span<const LinkId> links, double) {
  ways_[index] = {links_.size(), static_cast<std::uint32_t>(links.size())};
  links_.insert(links_.end(), links.begin(), links.end());
}

void UseSum::take(std::size_t index, std::span<const LinkId> links, double share) {
  const Demand& demand = demands_[index];
  const double bytes = demand.bytes * share;
  const double flows = demand.flows * share;
  for (const LinkId link : links) {
    use_.bytes[link] += bytes;
    use_.flows[link] += flows;
  }
}

}  // namespace fathom::simulator
