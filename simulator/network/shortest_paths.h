// SPDX-License-Identifier: BSD-3-Clause
// The shortest ways (fewest links) to a host, found once for all hosts behind the same switch.
//
// A host whose every link comes from one switch is reached through that switch: its target. The
// target of any other host is the host itself. From a target that is a switch, all links to the
// host will do. For each target a breadth-first search backwards gives the distance of every
// forwarding node; from a node, the links that lie on a shortest way to the target (the choices)
// lead to nodes that are one nearer. Choices are looked up when first asked for and kept.
//
// Cost: a search visits every link once. What is kept is bounded by `budget_bytes`: when it is
// reached, everything is forgotten, so whoever routes many demands does well to sort them by
// target. Threading: one thread.
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

  // All about one target. Good until the next call of toward().
  class Toward;
  Toward& toward(NodeId target);

  // The number of shortest ways from one host to another: a double, for it may be huge. 0: none.
  double count_ways(HostId source, HostId destination);

 private:
  const Network& network_;
  std::size_t budget_bytes_;
  std::size_t used_bytes_ = 0;
  // A link as routing sees it. Only links between forwarding nodes have one.
  struct Hop {
    NodeId node;
    LinkId link;
  };
  struct Hops {
    std::vector<std::uint32_t> first;  // by forwarding node, one more than there are
    std::vector<Hop> hops;
    std::span<const Hop> of(NodeId forwarder) const {
      return {hops.data() + first[forwarder], hops.data() + first[forwarder + 1]};
    }
  };
  void sort_hops();

  std::vector<NodeId> targets_;                  // by host
  Hops onward_;                                  // to the next node, in the order of choices
  Hops backward_;                                // to each node before, once
  std::vector<std::unique_ptr<Toward>> toward_;  // by target
};

class ShortestPaths::Toward {
 public:
  Toward(const ShortestPaths& owner, NodeId target);

  NodeId target() const { return target_; }

  // Links from `node` to the target; kUnreachable if there is no way. Any node may be asked for.
  std::uint16_t distance(NodeId node) const;

  // The links that lead from `node` (not the target) nearer to the target, by the name of the node
  // they lead to (core2 before core10), parallel ones in the order in which they were added; none
  // if there is no way. Good until the next call.
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
  std::vector<std::uint32_t> first_;  // by forwarding node: its place in links_; kNoId: not known
  std::vector<LinkId> links_;         // for each node known: how many choices, then which
  std::vector<LinkId> of_host_;       // of the host that was last asked for
};

}  // namespace fathom::simulator
