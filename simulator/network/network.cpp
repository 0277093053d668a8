// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/network/network.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace fathom::simulator {

Grid Grid::in_order(Kind kind, std::vector<std::uint32_t> extent) {
  std::vector<std::uint32_t> stride(extent.size(), 1);
  for (std::size_t dimension = stride.size(); dimension-- > 1;) {
    stride[dimension - 1] = stride[dimension] * extent[dimension];
  }
  return {kind, std::move(extent), std::move(stride)};
}

std::uint32_t Grid::points() const {
  return std::accumulate(extent.begin(), extent.end(), std::uint32_t{1}, std::multiplies<>());
}

std::vector<std::uint32_t> Grid::coordinates(std::uint32_t point) const {
  std::vector<std::uint32_t> result;
  for (std::size_t dimension = 0; dimension < extent.size(); ++dimension) {
    result.push_back(point / stride[dimension] % extent[dimension]);
  }
  return result;
}

NodeId Network::find_node(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  return found == names_.end() ? kNoId : static_cast<NodeId>(found - names_.begin());
}

std::uint64_t Network::total_slots() const {
  return std::accumulate(slots_.begin(), slots_.end(), std::uint64_t{0});
}

LinkId Network::find_link(NodeId source, NodeId target) const {
  for (const LinkId link : links_from(source)) {
    if (links_[link].target == target) return link;
  }
  return kNoId;
}

const std::string& Network::mac(HostId host) const {
  static const std::string kUnknown;
  return macs_.empty() ? kUnknown : macs_[host];
}

std::int64_t Network::datapath(NodeId switch_node) const {
  return datapaths_.empty() ? kNoDatapath : datapaths_[switch_node - host_count()];
}

Network::Adjacency Network::adjacency(std::uint32_t nodes, const std::vector<Link>& links,
                                      NodeId Link::*end) {
  Adjacency made;
  made.first.assign(nodes + 1, 0);
  for (const Link& link : links) ++made.first[link.*end + 1];
  std::partial_sum(made.first.begin(), made.first.end(), made.first.begin());
  made.links.resize(links.size());
  std::vector<std::uint32_t> next(made.first.begin(), made.first.end() - 1);
  for (LinkId link = 0; link < links.size(); ++link) made.links[next[links[link].*end]++] = link;
  return made;
}

std::uint32_t NetworkBuilder::add_host(std::string name, std::uint32_t slots, std::string mac) {
  nodes_.push_back({std::move(name), true, slots, std::move(mac)});
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t NetworkBuilder::add_switch(std::string name, std::int64_t datapath) {
  nodes_.push_back({std::move(name), false, 0, {}, datapath});
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::uint32_t NetworkBuilder::add_part(std::string name, std::uint32_t slots, MachinePart part) {
  const std::uint32_t host = add_host(std::move(name), slots);
  nodes_[host].part = std::move(part);
  return host;
}

std::uint32_t NetworkBuilder::add_inside(std::string name) {
  const std::uint32_t node = add_switch(std::move(name));
  nodes_[node].is_inside = true;
  return node;
}

std::uint32_t NetworkBuilder::add_copy(const Network& network, NodeId node) {
  if (network.is_host(node)) {
    const std::uint32_t host =
        add_host(network.node_name(node), network.slots(node), network.mac(node));
    if (!network.parts_.empty()) nodes_[host].part = network.parts_[node];
    return host;
  }
  const std::uint32_t copy = add_switch(network.node_name(node), network.datapath(node));
  nodes_[copy].is_inside =
      !network.inside_.empty() && network.inside_[node - network.host_count()] != 0;
  return copy;
}

void NetworkBuilder::add_link(std::uint32_t source, std::uint32_t target, double capacity_Bps,
                              double latency_s, std::int32_t port) {
  links_.push_back({source, target, capacity_Bps, latency_s, port});
}

void NetworkBuilder::add_cable(std::uint32_t one, std::uint32_t other, double capacity_Bps,
                               double latency_s) {
  add_link(one, other, capacity_Bps, latency_s);
  add_link(other, one, capacity_Bps, latency_s);
}

base::Status NetworkBuilder::check() const {
  std::unordered_set<std::string_view> names;
  bool any_host = false;
  for (const Node& node : nodes_) {
    if (!names.insert(node.name).second) {
      return base::Error{"there are two nodes named '" + node.name + "'"};
    }
    if (node.is_host && node.slots == 0) {
      return base::Error{"host '" + node.name +
                         "' has no slots for processes; give it at least one"};
    }
    any_host = any_host || node.is_host;
  }
  if (!any_host) return base::Error{"the network has no host"};
  for (const Link& link : links_) {
    const auto complain = [&](const char* what) {
      return base::Error{"the link from '" + nodes_[link.source].name + "' to '" +
                         nodes_[link.target].name + "' " + what};
    };
    if (link.source == link.target) return complain("ends where it begins");
    if (!(link.capacity_Bps > 0) || !std::isfinite(link.capacity_Bps)) {
      return complain("has a capacity that is not above zero");
    }
    if (!(link.latency_s >= 0) || !std::isfinite(link.latency_s)) {
      return complain("has a latency below zero");
    }
  }
  return base::Done{};
}

// Hosts come first, whatever the order of the file, so that a HostId is also a NodeId and arrays by
// host need no look-up.
void NetworkBuilder::number_nodes(Network& network, bool hosts, std::vector<NodeId>& number) {
  for (std::size_t at = 0; at < nodes_.size(); ++at) {
    Node& node = nodes_[at];
    if (node.is_host != hosts) continue;
    number[at] = static_cast<NodeId>(network.names_.size());
    if (hosts) {
      network.slots_.push_back(node.slots);
      network.macs_.push_back(std::move(node.mac));
      if (node.part.machine.empty()) node.part.machine = node.name;
      network.parts_.push_back(std::move(node.part));
    } else {
      network.datapaths_.push_back(node.datapath);
      network.inside_.push_back(node.is_inside ? 1 : 0);
    }
    network.names_.push_back(std::move(node.name));
  }
}

base::Result<Network> NetworkBuilder::build() {
  if (nodes_.size() > kMostNodes || links_.size() > kMostLinks)
    return too_large(static_cast<double>(nodes_.size()), static_cast<double>(links_.size()));
  if (base::Status status = check(); !status) return status.error();
  Network network;
  network.name_ = std::move(name_);
  std::vector<NodeId> number(nodes_.size());
  number_nodes(network, true, number);
  number_nodes(network, false, number);
  const auto is_empty = [](const std::string& mac) { return mac.empty(); };
  if (std::all_of(network.macs_.begin(), network.macs_.end(), is_empty)) network.macs_.clear();
  if (std::count(network.inside_.begin(), network.inside_.end(), 1) == 0) {
    network.inside_.clear();
    network.parts_.clear();
  }
  network.links_ = std::exchange(links_, {});
  for (Link& link : network.links_) {
    link.source = number[link.source];
    link.target = number[link.target];
  }
  network.from_ = Network::adjacency(network.node_count(), network.links_, &Link::source);
  network.to_ = Network::adjacency(network.node_count(), network.links_, &Link::target);
  network.grid_ = std::exchange(grid_, std::nullopt);
  nodes_.clear();
  return network;
}

base::Error too_large(double nodes, double links) {
  const bool by_nodes = nodes > kMostNodes;
  char text[160];
  std::snprintf(text, sizeof text, "that is %.15g %s; at most %u can be simulated",
                by_nodes ? nodes : links, by_nodes ? "hosts and switches" : "links",
                by_nodes ? kMostNodes : kMostLinks);
  return {text};
}

base::Result<Network> NetworkBuilder::build_from(const std::string& path) {
  auto network = build();
  if (!network) return base::Error{path + ": " + network.error().message};
  return network;
}

}  // namespace fathom::simulator
