// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/network/shortest_paths.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/order/natural_order.h"

namespace fathom::simulator {
namespace {

// The switch from which all links to the host come, or else the host itself.
NodeId find_target(const Network& network, HostId host) {
  const std::span<const LinkId> links = network.links_to(host);
  if (links.empty()) return host;
  const NodeId from = network.link(links.front()).source;
  if (network.is_host(from)) return host;
  const auto same = [&](LinkId link) { return network.link(link).source == from; };
  return std::all_of(links.begin(), links.end(), same) ? from : host;
}

// By forwarding node: its position when names are sorted in natural order.
std::vector<std::uint32_t> name_order(const Network& network) {
  const NodeId first = network.first_forwarder();
  std::vector<NodeId> sorted(network.node_count() - first);
  std::iota(sorted.begin(), sorted.end(), first);
  std::sort(sorted.begin(), sorted.end(), [&](NodeId left, NodeId right) {
    return base::natural_less(network.node_name(left), network.node_name(right));
  });
  std::vector<std::uint32_t> order(sorted.size());
  for (std::uint32_t place = 0; place < sorted.size(); ++place)
    order[sorted[place] - first] = place;
  return order;
}

}  // namespace

ShortestPaths::ShortestPaths(const Network& network, std::size_t budget_bytes)
    : network_(network), budget_bytes_(budget_bytes), toward_(network.node_count()) {
  targets_.reserve(network.host_count());
  for (HostId host = 0; host < network.host_count(); ++host) {
    targets_.push_back(find_target(network, host));
  }
  sort_hops();
}

void ShortestPaths::sort_hops() {
  const NodeId first = network_.first_forwarder();
  const std::vector<std::uint32_t> order = name_order(network_);
  onward_.first.push_back(0);
  backward_.first.push_back(0);
  for (NodeId node = first; node < network_.node_count(); ++node) {
    for (const LinkId link : network_.links_from(node)) {
      const NodeId to = network_.link(link).target;
      if (network_.forwards(to)) onward_.hops.push_back({to, link});
    }
    std::sort(onward_.hops.begin() + onward_.first.back(), onward_.hops.end(),
              [&](const Hop& left, const Hop& right) {
                return std::pair(order[left.node - first], left.link) <
                       std::pair(order[right.node - first], right.link);
              });
    onward_.first.push_back(static_cast<std::uint32_t>(onward_.hops.size()));
    for (const LinkId link : network_.links_to(node)) {
      const NodeId from = network_.link(link).source;
      if (network_.forwards(from)) backward_.hops.push_back({from, link});
    }
    const auto start = backward_.hops.begin() + backward_.first.back();
    std::sort(start, backward_.hops.end(),
              [](const Hop& left, const Hop& right) { return left.node < right.node; });
    const auto same = [](const Hop& left, const Hop& right) { return left.node == right.node; };
    backward_.hops.erase(std::unique(start, backward_.hops.end(), same), backward_.hops.end());
    backward_.first.push_back(static_cast<std::uint32_t>(backward_.hops.size()));
  }
}

ShortestPaths::~ShortestPaths() = default;

ShortestPaths::Toward& ShortestPaths::toward(NodeId target) {
  if (!toward_[target]) {
    if (used_bytes_ >= budget_bytes_) {
      for (std::unique_ptr<Toward>& known : toward_) known.reset();
      used_bytes_ = 0;
    }
    toward_[target] = std::make_unique<Toward>(*this, target);
    used_bytes_ += toward_[target]->bytes();
  }
  return *toward_[target];
}

double ShortestPaths::count_ways(HostId source, HostId destination) {
  if (source == destination) return 1;
  const NodeId target = target_of(destination);
  Toward& near = toward(target);
  if (near.distance(source) == kUnreachable) return 0;
  // Level by level from the source, because a node's count is complete only when all nodes one hop
  // before it have been added.
  std::vector<double> ways(network_.node_count(), 0);
  std::vector<NodeId> level = {source}, next;
  ways[source] = 1;
  while (level.front() != target) {
    next.clear();
    for (const NodeId node : level) {
      for (const LinkId link : near.choices(node)) {
        const NodeId to = network_.link(link).target;
        if (ways[to] == 0) next.push_back(to);
        ways[to] += ways[node];
      }
    }
    std::swap(level, next);
  }
  const bool last_hop = target != destination;
  return ways[target] * (last_hop ? static_cast<double>(network_.links_to(destination).size()) : 1);
}

ShortestPaths::Toward::Toward(const ShortestPaths& owner, NodeId target)
    : owner_(owner),
      network_(owner.network_),
      target_(target),
      first_forwarder_(network_.first_forwarder()),
      distance_(network_.node_count() - first_forwarder_, kUnreachable),
      first_(distance_.size(), kNoId) {
  search();
}

void ShortestPaths::Toward::search() {
  std::vector<NodeId> queue;
  queue.reserve(distance_.size() + 1);
  if (network_.forwards(target_)) {
    distance_[target_ - first_forwarder_] = 0;
    queue.push_back(target_ - first_forwarder_);
  } else {
    for (const LinkId link : network_.links_to(target_)) {
      const NodeId from = network_.link(link).source;
      if (!network_.forwards(from) || distance_[from - first_forwarder_] == 1) continue;
      distance_[from - first_forwarder_] = 1;
      queue.push_back(from - first_forwarder_);
    }
  }
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const auto next = static_cast<std::uint16_t>(distance_[queue[at]] + 1);
    for (const Hop& hop : owner_.backward_.of(queue[at])) {
      std::uint16_t& distance = distance_[hop.node - first_forwarder_];
      if (distance != kUnreachable) continue;
      distance = next;
      queue.push_back(hop.node - first_forwarder_);
    }
  }
}

std::uint16_t ShortestPaths::Toward::distance(NodeId node) const {
  if (node == target_) return 0;
  const NodeId first = first_forwarder_;
  if (network_.forwards(node)) return distance_[node - first];
  std::uint16_t nearest = kUnreachable;
  for (const LinkId link : network_.links_from(node)) {
    const NodeId to = network_.link(link).target;
    if (to == target_) return 1;
    if (network_.forwards(to)) nearest = std::min(nearest, distance_[to - first]);
  }
  return nearest == kUnreachable ? kUnreachable : static_cast<std::uint16_t>(nearest + 1);
}

void ShortestPaths::Toward::append_direct(NodeId node, std::vector<LinkId>& links) const {
  for (const LinkId link : network_.links_from(node)) {
    if (network_.link(link).target == target_) links.push_back(link);
  }
}

std::span<const LinkId> ShortestPaths::Toward::find_choices(NodeId node) {
  const std::uint16_t mine = distance_[node - first_forwarder_];
  const std::size_t start = links_.size();
  links_.push_back(0);
  if (mine == 1 && !network_.forwards(target_)) {
    append_direct(node, links_);
  } else if (mine != kUnreachable) {
    for (const Hop& hop : owner_.onward_.of(node - first_forwarder_)) {
      if (distance_[hop.node - first_forwarder_] + 1 == mine) links_.push_back(hop.link);
    }
  }
  links_[start] = static_cast<LinkId>(links_.size() - start - 1);
  first_[node - first_forwarder_] = static_cast<std::uint32_t>(start);
  return {links_.data() + start + 1, links_[start]};
}

// A host's only link is its choice; the next node finds out whether it leads to the target.
std::span<const LinkId> ShortestPaths::Toward::choices_of_host(HostId host) {
  const std::span<const LinkId> links = network_.links_from(host);
  if (links.size() == 1 && network_.forwards(network_.link(links.front()).target)) return links;
  of_host_.clear();
  const std::uint16_t mine = distance(host);
  if (mine == 1) {
    append_direct(host, of_host_);
  } else if (mine != kUnreachable) {
    for (const LinkId link : links) {
      const NodeId to = network_.link(link).target;
      if (network_.forwards(to) && distance_[to - first_forwarder_] + 1 == mine) {
        of_host_.push_back(link);
      }
    }
  }
  return of_host_;
}

std::size_t ShortestPaths::Toward::bytes() const {
  return sizeof *this + distance_.size() * sizeof distance_[0] + first_.size() * sizeof first_[0] +
         links_.capacity() * sizeof links_[0];
}

}  // namespace fathom::simulator
