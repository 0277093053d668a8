// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/media_graph.h"

#include <algorithm>

namespace fathom::simulator {

MediaGraph::Node MediaGraph::add_point(std::string name, Kind kind, std::uint32_t slots) {
  const auto node = static_cast<Node>(points_.size());
  points_.push_back({std::move(name), kind, slots, node});
  return node;
}

MediaGraph::Node MediaGraph::add_switch(std::string name) {
  return add_point(std::move(name), Kind::kSwitch, 0);
}

MediaGraph::Host MediaGraph::add_host(const std::string& name, std::uint32_t slots, bool forwards) {
  const Node host = add_point(name, Kind::kHost, slots);
  if (!forwards) return {host, {}, {}};
  const Node beside = add_switch(name + ".router");
  const Way out = add_link(host, beside, kUnlimited, 0);
  return {beside, out, add_link(beside, host, kUnlimited, 0)};
}

MediaGraph::Medium MediaGraph::add_medium(const std::string& name, double capacity_Bps,
                                          double latency_s, bool is_shared) {
  const Node begin = add_point(is_shared ? name + ".in" : name, Kind::kMediumEnd, 0);
  const Node end = is_shared ? add_point(name + ".out", Kind::kMediumEnd, 0) : begin;
  const Tag link = is_shared ? connect_link(begin, end, capacity_Bps, latency_s) : kNoId;
  media_.push_back({begin, end, capacity_Bps, latency_s, link});
  return static_cast<Medium>(media_.size() - 1);
}

void MediaGraph::connect(Node from, Node to, double capacity_Bps, double latency_s, EdgeKind kind,
                         Tag tag) {
  edges_.push_back({from, to, capacity_Bps, latency_s, kind, tag});
}

MediaGraph::Tag MediaGraph::connect_link(Node from, Node to, double capacity_Bps,
                                         double latency_s) {
  connect(from, to, capacity_Bps, latency_s, EdgeKind::kLink, links_);
  return links_++;
}

MediaGraph::Way MediaGraph::add_link(Node from, Node to, double capacity_Bps, double latency_s) {
  ways_.push_back({from, {}, to, connect_link(from, to, capacity_Bps, latency_s)});
  return static_cast<Way>(ways_.size() - 1);
}

MediaGraph::Way MediaGraph::add_way(Node from, std::span<const Medium> media, Node to) {
  ways_.push_back({from, {media.begin(), media.end()}, to});
  double before = kUnlimited;  // capacity
  for (const Medium medium : media) {
    const Ends& ends = media_[medium];
    const double capacity = std::min(before, ends.capacity_Bps);
    if (ends.begin == ends.end) {
      connect(from, ends.begin, capacity, ends.latency_s, EdgeKind::kEntry, medium);
    } else {
      connect(from, ends.begin, capacity, 0, EdgeKind::kConnector, kNoId);
    }
    from = ends.end;
    before = ends.capacity_Bps;
  }
  connect(from, to, before, 0, EdgeKind::kConnector, kNoId);
  return static_cast<Way>(ways_.size() - 1);
}

MediaGraph::Node MediaGraph::root(Node node) {
  while (points_[node].parent != node)
    node = points_[node].parent = points_[points_[node].parent].parent;
  return node;
}

// Merges connectors between the same two nodes. Several ways may add the same connector: it counts
// once. Connectors that a contraction brings together add up their capacities (`adds_up`).
void MediaGraph::unite_parallel(bool adds_up) {
  std::map<Step, std::size_t> first;
  std::size_t kept = 0;
  for (Edge edge : edges_) {
    edge.from = root(edge.from);
    edge.to = root(edge.to);
    if (edge.kind == EdgeKind::kConnector && edge.from == edge.to) continue;
    if (edge.kind != EdgeKind::kLink) {
      const auto [found, is_new] =
          first.try_emplace({edge.from, edge.to, edge.kind, edge.tag}, kept);
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

// An unlimited edge gets what the other links into its beginning can carry, or those out of its end
// if that is less. Where neither is known, it gets what all links together can carry.
void MediaGraph::limit_unlimited() {
  std::vector<double> in(points_.size(), 0), out(points_.size(), 0);
  std::vector<Edge*> open;
  double all = 0;
  for (Edge& edge : edges_) {
    if (edge.capacity_Bps == kUnlimited) open.push_back(&edge);
    out[edge.from] += edge.capacity_Bps;
    in[edge.to] += edge.capacity_Bps;
    if (edge.capacity_Bps != kUnlimited) all += edge.capacity_Bps;
  }
  for (Edge* edge : open) {
    const double least = std::min(in[edge->from] > 0 ? in[edge->from] : kUnlimited,
                                  out[edge->to] > 0 ? out[edge->to] : kUnlimited);
    edge->capacity_Bps = least != kUnlimited ? least : std::max(all, 1.0);
  }
}

base::Result<Network> MediaGraph::to_network(const std::string& name) {
  NetworkBuilder builder(name);
  std::vector<std::uint32_t> number(points_.size(), kNoId);
  NodeId switches = 0;
  for (Node node = 0; node < points_.size(); ++node) {
    if (points_[node].parent != node) continue;
    const bool is_host = points_[node].kind == Kind::kHost;
    number[node] = is_host ? builder.add_host(points_[node].name, points_[node].slots)
                           : builder.add_switch(points_[node].name);
    switches += is_host ? 0 : 1;
  }
  links_by_tag_.assign(links_, {0, 0});
  LinkId added = 0;
  for (const Edge& edge : edges_) {
    const std::pair<LinkId, std::uint32_t> links = {added, edge.from == edge.to ? 2 : 1};
    std::uint32_t end = number[edge.to];
    if (edge.from == edge.to) {  // contraction has joined the two ends of a medium
      end = builder.add_switch(points_[edge.from].name + ".loop" + std::to_string(added));
      ++switches;
    }
    builder.add_link(number[edge.from], end, edge.capacity_Bps, edge.latency_s);
    if (edge.from == edge.to) builder.add_link(end, number[edge.to], edge.capacity_Bps, 0);
    added += links.second;
    if (edge.kind == EdgeKind::kLink) {
      links_by_tag_[edge.tag] = links;
    } else {
      steps_[{edge.from, edge.to, edge.kind, edge.tag}] = links;
    }
  }
  if (grid_ && grid_->points() == switches) builder.set_grid(*grid_);
  return builder.build();
}

void MediaGraph::append_step(Node from, Node to, EdgeKind kind, Tag tag,
                             std::vector<LinkId>& links) {
  from = root(from), to = root(to);
  if (kind == EdgeKind::kConnector && from == to) return;
  const auto [first, count] = steps_.at({from, to, kind, tag});
  for (std::uint32_t at = 0; at < count; ++at) links.push_back(first + at);
}

std::vector<LinkId> MediaGraph::links_of(Way way) {
  const Course& course = ways_[way];
  std::vector<LinkId> links;
  const auto append_link = [&](Tag tag) {
    const auto [first, count] = links_by_tag_[tag];
    for (std::uint32_t at = 0; at < count; ++at) links.push_back(first + at);
  };
  if (course.link != kNoId) {
    append_link(course.link);
    return links;
  }
  Node at = course.from;
  for (const Medium medium : course.media) {
    const Ends& ends = media_[medium];
    if (ends.begin == ends.end) {
      append_step(at, ends.begin, EdgeKind::kEntry, medium, links);
    } else {
      append_step(at, ends.begin, EdgeKind::kConnector, kNoId, links);
      append_link(ends.link);
    }
    at = ends.end;
  }
  append_step(at, course.to, EdgeKind::kConnector, kNoId, links);
  return links;
}

base::Result<Network> MediaGraph::build(const std::string& name) {
  unite_parallel(false);
  while (contract()) unite_parallel(true);
  limit_unlimited();
  return to_network(name);
}

}  // namespace fathom::simulator
