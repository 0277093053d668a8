// SPDX-License-Identifier: BSD-3-Clause
// The shortest paths (fewest links) to a host, computed once for all hosts on the same switch.
//
// A host whose links all come from one switch is reached through that switch: its target. Any other
// host is its own target. From a target that is a switch, any link to the host will do. For each
// target, a backward breadth-first search gives the distance of every forwarding node. The choices
// of a node are its links on shortest paths to the target; they lead to nodes one hop nearer.
// Choices are computed on first use and cached.
//
// Cost: a search visits every link once. The cache is bounded by `budget_bytes`: when full, it is
// emptied, so callers that route many demands should sort them by target. Threading: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "simulator/network/network.h"

namespace fathom::simulator {

class ShortestPaths {
 public:
  static constexpr std::size_t kBudgetBytes = std::size_t{1} << 30;
  static constexpr std::uint16_t kUnreachable = 0xffff;

  explicit ShortestPaths(const Network& network, std::size_t budget_bytes = kBudgetBytes);
  ~ShortestPaths();

  const Network& network() const { return network_; }
  NodeId target_of(HostId host) const { return targets_[host]; }

  // Everything about one target. Valid until the next call of toward().
  class Toward;
  Toward& toward(NodeId target);

  // Number of shortest paths between two hosts; a double because it may be huge. 0: no path.
  double count_ways(HostId source, HostId destination);

 private:
  const Network& network_;
  std::size_t budget_bytes_;
  std::size_t used_bytes_ = 0;
  // A link as routing sees it. Exists only for links between forwarding nodes.
  struct Hop {
    NodeId node;
    LinkId link;
  };
  struct Hops {
    std::vector<std::uint32_t> first;  // by forwarding node, plus one final entry
    std::vector<Hop> hops;
    std::span<const Hop> of(NodeId forwarder) const {
      return {hops.data() + first[forwarder], hops.data() + first[forwarder + 1]};
    }
  };
  void sort_hops();

  std::vector<NodeId> targets_;                  // by host
  Hops onward_;                                  // to the next node, in the order of choices
  Hops backward_;                                // to each preceding node, once
  std::vector<std::unique_ptr<Toward>> toward_;  // by target
};

class ShortestPaths::Toward {
 public:
  Toward(const ShortestPaths& owner, NodeId target);

  NodeId target() const { return target_; }

  // Links from `node` to the target; kUnreachable if there is no path. `node` may be any node.
  std::uint16_t distance(NodeId node) const;

  // The links from `node` (not the target) that lead nearer to the target. Sorted by the name of
  // the next node (core2 before core10), parallel links in the order they were added; empty if
  // there is no path. Valid until the next call.
  std::span<const LinkId> choices(NodeId node) {
    if (node < first_forwarder_) return choices_of_host(node);
    const std::uint32_t at = first_[node - first_forwarder_];
    if (at == kNoId) return find_choices(node);
    return {links_.data() + at + 1, links_[at]};
  }

  std::size_t bytes() const;

 private:
  void search();
  void append_direct(NodeId node, std::vector<LinkId>& links) const;
  std::span<const LinkId> find_choices(NodeId node);
  std::span<const LinkId> choices_of_host(HostId host);

  const ShortestPaths& owner_;
  const Network& network_;
  NodeId target_;
  NodeId first_forwarder_;
  std::vector<std::uint16_t> distance_;  // by forwarding node
  std::vector<std::uint32_t> first_;     // by forwarding node: its position in links_; kNoId: not
                                         // computed
  std::vector<LinkId> links_;    // for each computed node: number of choices, then the choices
  std::vector<LinkId> of_host_;  // of the host last asked for
};

}  // namespace fathom::simulator
