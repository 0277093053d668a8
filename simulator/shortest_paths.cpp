#include "simulator/shortest_paths.h"

#include <algorithm>
#include <numeric>

#include "simulator/natural_order.h"

namespace fathom::simulator {
namespace {

// The switch that all links to the host come from, else the host itself.
NodeId find_target(const Network& network, HostId host) {
  const std::span<const LinkId> links = network.links_to(host);
  if (links.empty()) return host;
  const NodeId from = network.link(links.front()).source;
  if (network.is_host(from)) return host;
  const auto same = [&](LinkId link) { return network.link(link).source == from; };
  return std::all_of(links.begin(), links.end(), same) ? from : host;
}

// By forwarding node, its place among their names in natural order.
std::vector<std::uint32_t> name_order(const Network& network) {
  const NodeId first = network.first_forwarder();
  std::vector<NodeId> sorted(network.node_count() - first);
  std::iota(sorted.begin(), sorted.end(), first);
  std::sort(sorted.begin(), sorted.end(), [&](NodeId left, NodeId right) {
    return natural_less(network.node_name(left), network.node_name(right));
  });
  std::vector<std::uint32_t> order(sorted.size());
  for (std::uint32_t place = 0; place < sorted.size(); ++place) order[sorted[place] - first] = place;
  return order;
}

}  // namespace

ShortestPaths::ShortestPaths(const Network& network, std::size_t budget_bytes)
    : network_(network),
      budget_bytes_(budget_bytes),
      name_order_(name_order(network)),
      toward_(network.node_count()) {
  targets_.reserve(network.host_count());
  for (HostId host = 0; host < network.host_count(); ++host) {
    targets_.push_back(find_target(network, host));
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
  // Level by level from the source; a node is met only at its own distance.
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
      distance_(network_.node_count() - network_.first_forwarder(), kUnreachable),
      first_(network_.node_count(), kNoId) {
  search();
}

void ShortestPaths::Toward::search() {
  const NodeId first = network_.first_forwarder();
  std::vector<NodeId> queue = {target_};
  if (network_.forwards(target_)) distance_[target_ - first] = 0;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const NodeId node = queue[at];
    const std::uint16_t next = node == target_ ? 1 : distance_[node - first] + 1;
    for (const LinkId link : network_.links_to(node)) {
      const NodeId from = network_.link(link).source;
      if (!network_.forwards(from) || distance_[from - first] != kUnreachable) continue;
      distance_[from - first] = next;
      queue.push_back(from);
    }
  }
}

std::uint16_t ShortestPaths::Toward::distance(NodeId node) const {
  if (node == target_) return 0;
  const NodeId first = network_.first_forwarder();
  if (network_.forwards(node)) return distance_[node - first];
  std::uint16_t nearest = kUnreachable;
  for (const LinkId link : network_.links_from(node)) {
    const NodeId to = network_.link(link).target;
    if (to == target_) return 1;
    if (network_.forwards(to)) nearest = std::min(nearest, distance_[to - first]);
  }
  return nearest == kUnreachable ? kUnreachable : static_cast<std::uint16_t>(nearest + 1);
}

std::span<const LinkId> ShortestPaths::Toward::find_choices(NodeId node) {
  const NodeId first = network_.first_forwarder();
  const std::uint16_t mine = distance(node);
  const auto start = static_cast<std::uint32_t>(links_.size());
  links_.push_back(0);
  for (const LinkId link : network_.links_from(node)) {
    const NodeId to = network_.link(link).target;
    if (to != target_ && !network_.forwards(to)) continue;
    const std::uint16_t theirs = to == target_ ? 0 : distance_[to - first];
    if (theirs != kUnreachable && theirs + 1 == mine) links_.push_back(link);
  }
  const auto order = [&](LinkId link) {
    const NodeId to = network_.link(link).target;
    return network_.forwards(to) ? owner_.name_order_[to - first] : 0;
  };
  std::stable_sort(links_.begin() + start + 1, links_.end(),
                   [&](LinkId left, LinkId right) { return order(left) < order(right); });
  links_[start] = static_cast<LinkId>(links_.size() - start - 1);
  first_[node] = start;
  return {links_.data() + start + 1, links_[start]};
}

std::size_t ShortestPaths::Toward::bytes() const {
  return sizeof *this + distance_.size() * sizeof distance_[0] + first_.size() * sizeof first_[0] +
         links_.capacity() * sizeof links_[0];
}

}  // namespace fathom::simulator
