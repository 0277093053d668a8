// SPDX-License-Identifier: BSD-3-Clause
// Hops between hosts on shortest paths. Memory: 2 bytes per pair; cost: a search of the network for
// each host.
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
  static constexpr std::uint16_t kNoPath = 0xffff;

  HostDistances(const Network& network, std::span<const HostId> hosts);

  // One hop between any two hosts, whatever the network.
  static HostDistances equal(std::size_t hosts);

  // Between hosts[one] and hosts[other]; kNoPath if there is no path.
  std::uint16_t between(std::size_t one, std::size_t other) const {
    return hops_[one * count_ + other];
  }
  // From hosts[one] to all hosts.
  std::span<const std::uint16_t> from(std::size_t one) const {
    return {hops_.data() + one * count_, count_};
  }
  std::size_t count() const { return count_; }

 private:
  explicit HostDistances(std::size_t count) : count_(count), hops_(count * count, 1) {}

  std::size_t count_;
  std::vector<std::uint16_t> hops_;
};

}  // namespace fathom::simulator
