// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/simgrid_zones.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <queue>
#include <unordered_map>

namespace fathom::simulator {
namespace {

using Point = SimgridZones::Point;
using Route = SimgridZones::Route;
using Way = SimgridZones::Way;

constexpr std::size_t kMostFloyd = 2000;
constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max() / 4;

struct Written {
  Way way;
  std::size_t links;
  Point first_gateway, last_gateway;
  bool is_explicit;
};

using Pair = std::pair<Point, Point>;

class TableRoutes : public SimgridZones::LocalRoutes {
 public:
  void add(Point source, Point target, Way way, std::size_t links, Point first_gateway,
           Point last_gateway, bool is_explicit) override {
    const Written written{way, links, first_gateway, last_gateway, is_explicit};
    const auto [found, is_new] = routes_.try_emplace({source, target}, written);
    if (!is_new && is_explicit && !found->second.is_explicit) found->second = written;
  }

  bool find(Point source, Point target, Route& route) const override {
    const auto found = routes_.find({source, target});
    if (found == routes_.end()) return false;
    route = {{{found->second.way}}, found->second.first_gateway, found->second.last_gateway};
    return true;
  }

 protected:
  std::map<Pair, Written> routes_;
};

// The table holds the edges of a graph.
class GraphRoutes : public TableRoutes {
 public:
  explicit GraphRoutes(GraphSearch search) : search_(search) {}

  void add(Point source, Point target, Way way, std::size_t links, Point first_gateway,
           Point last_gateway, bool is_explicit) override {
    TableRoutes::add(source, target, way, links, first_gateway, last_gateway, is_explicit);
    for (const Point point : {source, target}) {
      if (numbers_.try_emplace(point, 0).second) points_.push_back(point);
    }
    order_.emplace_back(source, target);
  }

  // Floyd numbers points as the zone has them, Dijkstra as its routes name them.
  void finish() override {
    if (search_ == GraphSearch::kFloyd) std::sort(points_.begin(), points_.end());
    for (std::uint32_t at = 0; at < points_.size(); ++at) numbers_[points_[at]] = at;
    edges_.resize(points_.size());
    for (const auto& [source, target] : order_) {
      const auto& written = routes_.at({source, target});
      edges_[numbers_[source]].push_back(
          {numbers_[target], static_cast<std::uint32_t>(written.links)});
    }
    order_ = {};
    if (search_ == GraphSearch::kFloyd && points_.size() <= kMostFloyd) run_floyd();
  }

  bool find(Point source, Point target, Route& route) const override {
    const auto from = numbers_.find(source), to = numbers_.find(target);
    if (from == numbers_.end() || to == numbers_.end()) return false;
    std::vector<std::uint32_t> stops = {to->second};  // backwards
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const std::vector<std::uint32_t>& before = predecessors_of(from->second);
      while (stops.back() != from->second) {
        if (before[stops.back()] == kNoId) return false;
        stops.push_back(before[stops.back()]);
      }
    }
    route = {};
    for (std::size_t at = stops.size() - 1; at-- > 0;) {
      const Written& edge = routes_.at({points_[stops[at + 1]], points_[stops[at]]});
      const bool is_first = route.parts.empty();
      if (is_first) {
        route.first_gateway = edge.first_gateway;
      } else if (route.last_gateway != edge.first_gateway) {
        route.parts.push_back({kNoId, route.last_gateway, edge.first_gateway});
      }
      route.parts.push_back({edge.way});
      route.last_gateway = edge.last_gateway;
    }
    return true;
  }

 private:
  struct Edge {
    std::uint32_t target, links;
  };

  void run_floyd() {
    const std::size_t count = points_.size();
    std::vector<std::vector<std::uint32_t>> costs(count, std::vector<std::uint32_t>(count, kFar));
    predecessors_.assign(count, std::vector<std::uint32_t>(count, kNoId));
    for (std::uint32_t source = 0; source < count; ++source) {
      for (const Edge& edge : edges_[source]) {
        costs[source][edge.target] = edge.links;
        predecessors_[source][edge.target] = source;
      }
    }
    for (std::size_t middle = 0; middle < count; ++middle) {
      for (std::size_t source = 0; source < count; ++source) {
        if (costs[source][middle] >= kFar) continue;
        for (std::size_t target = 0; target < count; ++target) {
          const std::uint32_t cost = costs[source][middle] + costs[middle][target];
          if (cost >= costs[source][target] || cost >= kFar) continue;
          costs[source][target] = cost;
          predecessors_[source][target] = predecessors_[middle][target];
        }
      }
    }
  }

  // The stop before each point on the way from `source`; kNoId if there is none.
  const std::vector<std::uint32_t>& predecessors_of(std::uint32_t source) const {
    if (predecessors_.empty()) predecessors_.resize(points_.size());
    std::vector<std::uint32_t>& before = predecessors_[source];
    if (!before.empty()) return before;
    before.assign(points_.size(), kNoId);
    std::vector<std::uint32_t> costs(points_.size(), kFar);
    using Reached = std::pair<std::uint32_t, std::uint32_t>;  // cost, point
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> next;
    costs[source] = 0;
    next.emplace(0, source);
    while (!next.empty()) {
      const auto [cost, at] = next.top();
      next.pop();
      if (cost > costs[at]) continue;
      for (const Edge& edge : edges_[at]) {
        if (cost + edge.links >= costs[edge.target]) continue;
        costs[edge.target] = cost + edge.links;
        before[edge.target] = at;
        next.emplace(costs[edge.target], edge.target);
      }
    }
    return before;
  }

  const GraphSearch search_;
  std::vector<Point> points_;  // by number
  std::unordered_map<Point, std::uint32_t> numbers_;
  std::vector<Pair> order_;  // of the edges in the file
  std::vector<std::vector<Edge>> edges_;
  mutable std::mutex mutex_;
  mutable std::vector<std::vector<std::uint32_t>> predecessors_;  // by source; found when asked for
};

}  // namespace

std::unique_ptr<SimgridZones::LocalRoutes> table_routes() {
  return std::make_unique<TableRoutes>();
}

std::unique_ptr<SimgridZones::LocalRoutes> graph_routes(GraphSearch search) {
  return std::make_unique<GraphRoutes>(search);
}

SimgridZones::Zone SimgridZones::add_zone(Zone parent, std::unique_ptr<LocalRoutes> routes) {
  const auto zone = static_cast<Zone>(zones_.size());
  const std::uint32_t depth = parent == kNoId ? 0 : zones_[parent].depth + 1;
  zones_.push_back({parent, add_point(parent), depth, std::move(routes), {}});
  zone_numbers_[zones_.back().point] = zone;
  return zone;
}

SimgridZones::Point SimgridZones::add_point(Zone zone) {
  points_.push_back(zone);
  return static_cast<Point>(points_.size() - 1);
}

bool SimgridZones::holds(Zone zone, Point point) const {
  Zone at = points_[point];
  while (at != kNoId && at != zone) at = zones_[at].parent;
  return at == zone;
}

void SimgridZones::add_bypass(Zone zone, Point source, Point target, Way way, Point first_gateway,
                              Point last_gateway) {
  zones_[zone].bypasses.try_emplace({source, target}, Route{{{way}}, first_gateway, last_gateway});
}

void SimgridZones::finish(MediaGraph& graph) {
  for (ZoneEntry& zone : zones_) zone.routes->finish();
  first_link_.assign(1, 0);
  for (Way way = 0; way < graph.way_count(); ++way) {
    const std::vector<LinkId> links = graph.links_of(way);
    links_.insert(links_.end(), links.begin(), links.end());
    first_link_.push_back(links_.size());
  }
}

void SimgridZones::append_way(Way way, std::vector<LinkId>& links) const {
  links.insert(links.end(), links_.begin() + static_cast<std::ptrdiff_t>(first_link_[way]),
               links_.begin() + static_cast<std::ptrdiff_t>(first_link_[way + 1]));
}

// The bypass that replaces most of the way: SimGrid looks at the innermost zones first.
const SimgridZones::Route* SimgridZones::find_bypass(const ZoneEntry& common, Zone source,
                                                     Zone target) const {
  std::vector<Point> from, to;  // zones from the inside to below the common one
  for (; &zones_[source] != &common; source = zones_[source].parent)
    from.push_back(zones_[source].point);
  for (; &zones_[target] != &common; target = zones_[target].parent)
    to.push_back(zones_[target].point);
  const auto look_up = [&](std::size_t one, std::size_t other) -> const Route* {
    if (one >= from.size() || other >= to.size()) return nullptr;
    const auto found = common.bypasses.find({from[one], to[other]});
    return found == common.bypasses.end() ? nullptr : &found->second;
  };
  for (std::size_t most = 0; most < std::max(from.size(), to.size()); ++most) {
    for (std::size_t at = 0; at < most; ++at) {
      if (const Route* found = look_up(at, most)) return found;
      if (const Route* found = look_up(most, at)) return found;
    }
    if (const Route* found = look_up(most, most)) return found;
  }
  return nullptr;
}

bool SimgridZones::find(Point source, Point target, Route& route) const {
  Zone from = points_[source], to = points_[target], below_from = kNoId, below_to = kNoId;
  while (from != to) {
    if (zones_[from].depth >= zones_[to].depth) {
      below_from = std::exchange(from, zones_[from].parent);
    } else {
      below_to = std::exchange(to, zones_[to].parent);
    }
  }
  const ZoneEntry& common = zones_[from];
  if (below_from == kNoId || below_to == kNoId) {
    const auto bypass = common.bypasses.find({source, target});
    if (bypass == common.bypasses.end()) return common.routes->find(source, target, route);
    route = bypass->second;
    return true;
  }
  const Route* bypass =
      common.bypasses.empty() ? nullptr : find_bypass(common, points_[source], points_[target]);
  if (bypass) {
    route = *bypass;
  } else if (!common.routes->find(zones_[below_from].point, zones_[below_to].point, route)) {
    return false;
  }
  if (route.first_gateway == kNoId || route.last_gateway == kNoId) return false;
  route.parts.insert(route.parts.begin(), {kNoId, source, route.first_gateway});
  route.parts.push_back({kNoId, route.last_gateway, target});
  return true;
}

bool SimgridZones::append(HostId source, HostId destination, std::vector<LinkId>& links) const {
  const HostEntry &from = hosts_[source], &to = hosts_[destination];
  if (from.host.out) append_way(*from.host.out, links);
  std::vector<Part> open = {{kNoId, from.point, to.point}};  // the next part last
  Route route;
  while (!open.empty()) {
    const Part part = open.back();
    open.pop_back();
    if (part.way != kNoId) {
      append_way(part.way, links);
    } else if (part.source != part.target) {
      if (!find(part.source, part.target, route)) return false;
      open.insert(open.end(), route.parts.rbegin(), route.parts.rend());
    }
  }
  if (to.host.in) append_way(*to.host.in, links);
  return true;
}

}  // namespace fathom::simulator
