// SPDX-License-Identifier: BSD-3-Clause
// Hops between hosts on shortest paths. Memory: 4 bytes per pair.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/network/network.h"

namespace fathom::simulator {

// From one node to every node, through forwarding nodes only; kNoId if there is no path.
std::vector<std::uint32_t> hops_from(const Network& network, NodeId start);

class HostDistances {
 public:
  HostDistances(const Network& network, std::span<const HostId> hosts);

  // Between hosts[one] and hosts[other].
  std::uint32_t between(std::size_t one, std::size_t other) const {
    return hops_[one * count_ + other];
  }
  std::size_t count() const { return count_; }

 private:
  std::size_t count_;
  std::vector<std::uint32_t> hops_;
};

}  // namespace fathom::simulator
