// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/media_graph.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "simulator/network/host_distances.h"

namespace fathom::simulator {

MediaGraph::Node MediaGraph::add_point(std::string name, Kind kind, std::uint32_t slots) {
  const auto node = static_cast<Node>(points_.size());
  points_.push_back({std::move(name), kind, slots, node});
  return node;
}

MediaGraph::Node MediaGraph::add_switch(std::string name) {
  return add_point(std::move(name), Kind::kSwitch, 0);
}

MediaGraph::Node MediaGraph::add_host(const std::string& name, std::uint32_t slots, bool forwards) {
  const Node host = add_point(name, Kind::kHost, slots);
  if (!forwards) return host;
  const Node beside = add_switch(name + ".router");
  add_link(host, beside, kUnlimited, 0);
  add_link(beside, host, kUnlimited, 0);
  return beside;
}

MediaGraph::Medium MediaGraph::add_medium(const std::string& name, double capacity_Bps,
                                          double latency_s, bool is_shared) {
  const Node begin = add_point(is_shared ? name + ".in" : name, Kind::kMediumEnd, 0);
  const Node end = is_shared ? add_point(name + ".out", Kind::kMediumEnd, 0) : begin;
  if (is_shared) add_link(begin, end, capacity_Bps, latency_s);
  media_.push_back({begin, end, capacity_Bps, latency_s});
  return static_cast<Medium>(media_.size() - 1);
}

void MediaGraph::connect(Node from, Node to, double capacity_Bps, double latency_s, EdgeKind kind) {
  edges_.push_back({from, to, capacity_Bps, latency_s, kind});
}

void MediaGraph::add_link(Node from, Node to, double capacity_Bps, double latency_s) {
  connect(from, to, capacity_Bps, latency_s, EdgeKind::kLink);
}

void MediaGraph::add_way(Node from, std::span<const Medium> media, Node to) {
  double before = kUnlimited;  // capacity
  for (const Medium medium : media) {
    const Ends& ends = media_[medium];
    const double capacity = std::min(before, ends.capacity_Bps);
    if (ends.begin == ends.end) {
      connect(from, ends.begin, capacity, ends.latency_s, EdgeKind::kEntry);
    } else {
      connect(from, ends.begin, capacity, 0, EdgeKind::kConnector);
    }
    from = ends.end;
    before = ends.capacity_Bps;
  }
  connect(from, to, before, 0, EdgeKind::kConnector);
}

void MediaGraph::must_be_shortest(Node from, std::vector<Medium> media, Node to) {
  ways_.push_back({from, std::move(media), to});
}

MediaGraph::Node MediaGraph::root(Node node) {
  while (points_[node].parent != node)
    node = points_[node].parent = points_[points_[node].parent].parent;
  return node;
}

// Merges connectors between the same two nodes. Several ways may add the same connector: it counts
// once. Connectors that a contraction brings together add up their capacities (`adds_up`).
void MediaGraph::unite_parallel(bool adds_up) {
  std::map<std::tuple<Node, Node, EdgeKind>, std::size_t> first;
  std::size_t kept = 0;
  for (Edge edge : edges_) {
    edge.from = root(edge.from);
    edge.to = root(edge.to);
    if (edge.kind == EdgeKind::kConnector && edge.from == edge.to) continue;
    if (edge.kind != EdgeKind::kLink) {
      const auto [found, is_new] = first.try_emplace({edge.from, edge.to, edge.kind}, kept);
      if (!is_new) {
        if (adds_up) edges_[found->second].capacity_Bps += edge.capacity_Bps;
        continue;
      }
    }
    edges_[kept++] = edge;
  }
  edges_.resize(kept);
}

void MediaGraph::merge(Node one, Node other) {
  if (points_[other].kind > points_[one].kind) std::swap(one, other);
  points_[other].parent = one;
}

// Contracts every connector that can go now; false if there was none. A connector that is the only
// edge into its end, or the only one out of its beginning, lies on every path there already, so
// merging its ends loses nothing. A host's own traffic must stay apart from that of others, so a
// host's degree never justifies a contraction. Degrees are counted once per pass; only the removed
// node's must still be valid, so all arms of a star go in one pass.
bool MediaGraph::contract() {
  std::vector<std::uint32_t> in(points_.size(), 0), out(points_.size(), 0);
  for (const Edge& edge : edges_) {
    ++out[edge.from];
    ++in[edge.to];
  }
  bool any = false;
  std::vector<char> merged(points_.size(), 0);  // their degrees are out of date
  for (const Edge& edge : edges_) {
    if (edge.kind != EdgeKind::kConnector) continue;
    const auto may_go = [&](Node node, std::uint32_t degree) {
      return degree == 1 && !merged[node] && points_[node].kind != Kind::kHost;
    };
    if (!may_go(edge.to, in[edge.to]) && !may_go(edge.from, out[edge.from])) continue;
    const Node one = root(edge.from), other = root(edge.to);
    if (one == other) continue;
    merge(one, other);
    for (const Node node : {edge.from, edge.to, one, other}) merged[node] = 1;
    any = true;
  }
  return any;
}

// An unlimited edge gets the smaller of what the other links into its beginning and out of its end
// can carry.
void MediaGraph::limit_unlimited() {
  std::vector<double> in(points_.size(), 0), out(points_.size(), 0);
  for (const Edge& edge : edges_) {
    if (edge.capacity_Bps == kUnlimited) continue;
    out[edge.from] += edge.capacity_Bps;
    in[edge.to] += edge.capacity_Bps;
  }
  for (Edge& edge : edges_) {
    if (edge.capacity_Bps != kUnlimited) continue;
    const double before = in[edge.from] > 0 ? in[edge.from] : kUnlimited,
                 after = out[edge.to] > 0 ? out[edge.to] : kUnlimited;
    edge.capacity_Bps = std::min(before, after);
    if (edge.capacity_Bps == kUnlimited)
      edge.capacity_Bps = std::max(1.0, in[edge.to] + out[edge.from]);
  }
}

base::Result<Network> MediaGraph::to_network(const std::string& name) {
  NetworkBuilder builder(name);
  std::vector<std::uint32_t> number(points_.size(), kNoId);
  numbers_.assign(points_.size(), kNoId);
  NodeId hosts = 0, switches = 0;
  for (Node node = 0; node < points_.size(); ++node) {
    if (points_[node].parent != node) continue;
    const bool is_host = points_[node].kind == Kind::kHost;
    number[node] = is_host ? builder.add_host(points_[node].name, points_[node].slots)
                           : builder.add_switch(points_[node].name);
    numbers_[node] = is_host ? hosts++ : switches++;
  }
  for (Node node = 0; node < points_.size(); ++node) {
    if (points_[node].parent == node && points_[node].kind != Kind::kHost) numbers_[node] += hosts;
  }
  if (grid_ && grid_->points() == switches) builder.set_grid(*grid_);
  for (const Edge& edge : edges_) {
    builder.add_link(number[edge.from], number[edge.to], edge.capacity_Bps, edge.latency_s);
  }
  return builder.build();
}

// Length in links; steps inside a contracted node count 0.
std::uint32_t MediaGraph::length_of(const Way& way) {
  std::uint32_t length = 0;
  Node at = root(way.from);
  const auto go = [&](Node to) {
    length += root(to) != at;
    at = root(to);
  };
  for (const Medium medium : way.media) {
    go(media_[medium].begin);
    go(media_[medium].end);
  }
  go(way.to);
  return length;
}

base::Status MediaGraph::check_ways(const Network& network) {
  std::stable_sort(ways_.begin(), ways_.end(),
                   [](const Way& one, const Way& other) { return one.from < other.from; });
  std::vector<std::uint32_t> hops;
  for (std::size_t at = 0; at < ways_.size(); ++at) {
    const Way& way = ways_[at];
    if (at == 0 || way.from != ways_[at - 1].from)
      hops = hops_from(network, numbers_[root(way.from)]);
    if (hops[numbers_[root(way.to)]] >= length_of(way)) continue;
    return base::Error{
        "the route from '" + points_[root(way.from)].name + "' to '" + points_[root(way.to)].name +
        "' has more links than another path over the same links; only networks whose routes are "
        "shortest paths can be read"};
  }
  return base::Done{};
}

base::Result<Network> MediaGraph::build(const std::string& name) {
  unite_parallel(false);
  while (contract()) unite_parallel(true);
  limit_unlimited();
  auto network = to_network(name);
  if (!network) return network;
  if (auto checked = check_ways(*network); !checked) return checked.error();
  return network;
}

}  // namespace fathom::simulator
