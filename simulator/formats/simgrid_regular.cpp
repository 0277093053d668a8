// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <utility>

#include "simulator/formats/simgrid_cluster.h"
#include "simulator/formats/simgrid_values.h"

namespace fathom::simulator {
namespace {

using Node = MediaGraph::Node;
using Point = SimgridZones::Point;
using Route = SimgridZones::Route;
using Way = MediaGraph::Way;
using Lists = std::vector<std::vector<std::uint32_t>>;
using List = std::vector<std::uint32_t>;

base::Error wrong_hosts(const std::string& parameters, double expected, std::size_t there) {
  return {"topo_parameters '" + parameters + "' describe " +
          std::to_string(static_cast<std::uint64_t>(expected)) + " hosts; radical names " +
          std::to_string(there)};
}

// A host or a switch of a cluster, with its limiter between its two ends if it has one.
struct Vertex {
  Node in, out;
  std::optional<Way> limiter = {};
  std::optional<Way> from_host = {}, to_host = {};  // of a host with a limiter
};

struct CableWays {
  Way up, down;
};

// Common to the three: vertices, the cables between them, and routes from vertex to vertex.
class RegularCluster : public SimgridZones::LocalRoutes {
 public:
  RegularCluster(MediaGraph& graph, const ClusterLinks& links, const ClusterHosts& hosts)
      : links_(links), first_(hosts.first) {
    for (const Node node : hosts.nodes) {
      const std::string name = links.name + ".limiter" + std::to_string(vertices_.size());
      vertices_.push_back({node, node});
      if (!links.limiter_Bps) continue;
      vertices_.back() = limited(graph, graph.add_switch(name + ".in"), name);
      vertices_.back().from_host = graph.add_way(node, {}, vertices_.back().in);
      vertices_.back().to_host = graph.add_way(vertices_.back().out, {}, node);
    }
    hosts_ = vertices_.size();
  }

  bool find(Point source, Point target, Route& route) const override {
    const std::size_t from = source - first_, to = target - first_;
    if (source < first_ || target < first_ || from >= hosts_ || to >= hosts_) return false;
    route = {};
    if (vertices_[from].from_host) route.parts.push_back({*vertices_[from].from_host});
    pass(from, route);
    append(static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), route);
    if (vertices_[to].to_host) route.parts.push_back({*vertices_[to].to_host});
    return true;
  }

 protected:
  // Every vertex on the route but the source, with go().
  virtual void append(std::uint32_t from, std::uint32_t to, Route& route) const = 0;

  void go(Way way, std::size_t vertex, Route& route) const {
    route.parts.push_back({way});
    pass(vertex, route);
  }

  std::uint32_t add_switch(MediaGraph& graph, const std::string& name) {
    const Node node = graph.add_switch(links_.name + "." + name);
    vertices_.push_back(links_.limiter_Bps
                            ? limited(graph, node, links_.name + "." + name + ".limiter")
                            : Vertex{node, node});
    return static_cast<std::uint32_t>(vertices_.size() - 1);
  }

  // `times` cables in one.
  CableWays join(MediaGraph& graph, std::uint32_t one, std::uint32_t other,
                 std::uint32_t times = 1) {
    const Vertex &a = vertices_[one], &b = vertices_[other];
    const double capacity_Bps = times * links_.capacity_Bps;
    if (links_.sharing == Sharing::kSplitDuplex) {
      const Way up = graph.add_link(a.out, b.in, capacity_Bps, links_.latency_s);
      return {up, graph.add_link(b.out, a.in, capacity_Bps, links_.latency_s)};
    }
    const Cable cable = add_cable(graph, links_.name + ".cable" + std::to_string(cables_++),
                                  capacity_Bps, links_.latency_s, links_.sharing);
    const Way up = graph.add_way(a.out, cable.up, b.in);
    return {up, graph.add_way(b.out, cable.down, a.in)};
  }

  std::size_t host_count() const { return hosts_; }

 private:
  Vertex limited(MediaGraph& graph, Node in, const std::string& name) {
    const Node out = graph.add_switch(name + ".out");
    return {in, out, graph.add_link(in, out, *links_.limiter_Bps, 0)};
  }

  void pass(std::size_t vertex, Route& route) const {
    if (vertices_[vertex].limiter) route.parts.push_back({*vertices_[vertex].limiter});
  }

  const ClusterLinks links_;
  const Point first_;
  std::size_t hosts_ = 0;
  std::size_t cables_ = 0;        // that are not SPLITDUPLEX
  std::vector<Vertex> vertices_;  // hosts, then switches
};

// Level 0 are the hosts. Digits of a node as in simulator/topology/tree.h; those of a host are its
// number's.
class FatTree : public RegularCluster {
 public:
  FatTree(MediaGraph& graph, const ClusterLinks& links, const ClusterHosts& hosts, Lists lists)
      : RegularCluster(graph, links, hosts),
        children_(std::move(lists[1])),
        parents_(std::move(lists[2])),
        parallel_(std::move(lists[3])) {
    level_start_ = {0, static_cast<std::uint32_t>(host_count())};
    for (std::size_t level = 1; level <= children_.size(); ++level) {
      std::uint32_t count = 1;
      for (std::size_t at = 0; at < children_.size(); ++at)
        count *= at < level ? parents_[at] : children_[at];
      for (std::uint32_t at = 0; at < count; ++at)
        add_switch(graph, "s" + std::to_string(level) + "." + std::to_string(at));
      level_start_.push_back(level_start_.back() + count);
    }
    up_.resize(level_start_[children_.size()]);
    for (std::size_t level = 0; level < children_.size(); ++level) {
      for (std::uint32_t at = level_start_[level]; at < level_start_[level + 1]; ++at) {
        for (std::uint32_t cable = 0; cable < parallel_[level]; ++cable) {
          for (std::uint32_t digit = 0; digit < parents_[level]; ++digit)
            up_[at].push_back(join(graph, at, above(at, level, digit)));
        }
      }
    }
  }

 private:
  // The digits of a node of this level.
  List digits(std::uint32_t vertex, std::size_t level) const {
    List digits;
    std::uint32_t left = vertex - level_start_[level];
    for (std::size_t at = 0; at < children_.size(); ++at) {
      const std::uint32_t width = at < level ? parents_[at] : children_[at];
      digits.push_back(left % width);
      left /= width;
    }
    return digits;
  }

  std::uint32_t vertex(const List& digits, std::size_t level) const {
    std::uint32_t number = 0;
    for (std::size_t at = children_.size(); at-- > 0;)
      number = number * (at < level ? parents_[at] : children_[at]) + digits[at];
    return level_start_[level] + number;
  }

  std::uint32_t above(std::uint32_t node, std::size_t level, std::uint32_t digit) const {
    List of_parent = digits(node, level);
    of_parent[level] = digit;
    return vertex(of_parent, level + 1);
  }

  void append(std::uint32_t from, std::uint32_t to, Route& route) const override {
    const List target = digits(to, 0);
    std::uint32_t at = from;
    std::size_t level = 0;
    const auto is_above = [&] {
      const List here = digits(at, level);
      for (std::size_t digit = level; digit < children_.size(); ++digit) {
        if (here[digit] != target[digit]) return false;
      }
      return level > 0;
    };
    while (!is_above()) {
      std::uint32_t choice = to;
      for (std::size_t below = 0; below < level; ++below) choice /= parents_[below];
      choice %= parents_[level] * parallel_[level];
      const Way way = up_[at][choice].up;
      at = above(at, level, choice % parents_[level]);
      ++level;
      go(way, at, route);
    }
    // SimGrid goes on counting ports where it was when it has found one; that decides which of
    // several parallel cables is taken further down.
    while (level > 0) {
      std::uint32_t port = from % parallel_[level - 1] * children_[level - 1];
      for (; level > 0 && port < children_[level - 1] * parallel_[level - 1]; ++port) {
        if (port % children_[level - 1] != target[level - 1]) continue;
        List below = digits(at, level);
        const std::uint32_t digit = below[level - 1];
        const std::uint32_t cable = port / children_[level - 1];
        --level;
        below[level] = target[level];
        at = vertex(below, level);
        go(up_[at][digit + cable * parents_[level]].down, at, route);
      }
    }
  }

  const List children_, parents_, parallel_;  // by level
  List level_start_;                          // vertex, by level
  std::vector<std::vector<CableWays>> up_;    // by vertex: SimGrid's ports to parents
};

// SimGrid routes the first coordinate first, and that coordinate runs fastest.
class Torus : public RegularCluster {
 public:
  Torus(MediaGraph& graph, const ClusterLinks& links, const ClusterHosts& hosts, List extent)
      : RegularCluster(graph, links, hosts), extent_(std::move(extent)) {
    Grid grid{Grid::Kind::kTorus, extent_, {}, true};
    std::uint32_t stride = 1;
    for (const std::uint32_t width : extent_) {
      grid.stride.push_back(stride);
      stride *= width;
    }
    stride_ = grid.stride;
    for (std::uint32_t rank = 0; rank < host_count(); ++rank) {
      for (std::size_t dimension = 0; dimension < extent_.size(); ++dimension)
        ways_.push_back(extent_[dimension] > 1 ? join(graph, rank, next(rank, dimension))
                                               : CableWays{});
    }
    if (!links.limiter_Bps) graph.set_grid(std::move(grid));
  }

 private:
  std::uint32_t at(std::uint32_t rank, std::size_t dimension) const {
    return rank / stride_[dimension] % extent_[dimension];
  }
  std::uint32_t next(std::uint32_t rank, std::size_t dimension) const {
    const std::uint32_t step = stride_[dimension];
    return at(rank, dimension) + 1 < extent_[dimension] ? rank + step
                                                        : rank + step - step * extent_[dimension];
  }
  std::uint32_t previous(std::uint32_t rank, std::size_t dimension) const {
    const std::uint32_t step = stride_[dimension];
    return at(rank, dimension) > 0 ? rank - step : rank - step + step * extent_[dimension];
  }

  void append(std::uint32_t from, std::uint32_t to, Route& route) const override {
    std::uint32_t here = from;
    for (std::size_t dimension = 0; dimension < extent_.size(); ++dimension) {
      const std::uint32_t width = extent_[dimension], half = width / 2;
      const std::uint32_t mine = at(from, dimension), wanted = at(to, dimension);
      const bool is_up = (wanted > mine && wanted <= mine + half) ||
                         (mine > half && (mine + half) % width >= wanted);
      while (at(here, dimension) != wanted) {
        const std::uint32_t then = is_up ? next(here, dimension) : previous(here, dimension);
        const CableWays& ways = ways_[(is_up ? here : then) * extent_.size() + dimension];
        go(is_up ? ways.up : ways.down, then, route);
        here = then;
      }
    }
  }

  const List extent_;
  List stride_;
  std::vector<CableWays> ways_;  // from each rank to the next, by rank and dimension
};

struct DragonflyShape {
  std::uint32_t groups, blue, chassis, black, routers, green, hosts;
  std::uint32_t in_group() const { return chassis * routers; }
};

class Dragonfly : public RegularCluster {
 public:
  Dragonfly(MediaGraph& graph, const ClusterLinks& links, const ClusterHosts& hosts,
            const DragonflyShape& shape)
      : RegularCluster(graph, links, hosts), shape_(shape) {
    const std::uint32_t in_group = shape.in_group(), routers = shape.routers;
    for (std::uint32_t at = 0; at < shape.groups * in_group; ++at) {
      const std::uint32_t router = add_router(graph, at);
      if (at == 0) first_router_ = router;
      for (std::uint32_t host = at * shape.hosts; host < (at + 1) * shape.hosts; ++host)
        connect(graph, host, first_router_ + at);
    }
    for (std::uint32_t at = 0; at < shape.groups * in_group; ++at) {
      for (std::uint32_t other = at + 1; other < (at / routers + 1) * routers; ++other)
        connect(graph, first_router_ + at, first_router_ + other, shape.green);
      for (std::uint32_t other = at + routers; other < (at / in_group + 1) * in_group;
           other += routers)
        connect(graph, first_router_ + at, first_router_ + other, shape.black);
    }
    for (std::uint32_t one = 0; one < shape.groups; ++one) {
      for (std::uint32_t other = one + 1; other < shape.groups; ++other)
        connect(graph, first_router_ + one * in_group + other,
                first_router_ + other * in_group + one, shape.blue);
    }
  }

 private:
  std::uint32_t add_router(MediaGraph& graph, std::uint32_t at) {
    return add_switch(graph, "r" + std::to_string(at / shape_.in_group()) + "." +
                                 std::to_string(at / shape_.routers % shape_.chassis) + "." +
                                 std::to_string(at % shape_.routers));
  }

  void connect(MediaGraph& graph, std::uint32_t one, std::uint32_t other, std::uint32_t times = 1) {
    const CableWays ways = join(graph, one, other, times);
    ways_[{one, other}] = ways.up;
    ways_[{other, one}] = ways.down;
  }

  void append(std::uint32_t from, std::uint32_t to, Route& route) const override {
    const std::uint32_t in_group = shape_.in_group();
    std::uint32_t at = from;
    const auto visit = [&](std::uint32_t vertex) {
      if (vertex != at) go(ways_.at({at, vertex}), vertex, route);
      at = vertex;
    };
    // Within a group: to the router's position in this chassis, then to its chassis.
    const auto visit_in_group = [&](std::uint32_t router) {
      const std::uint32_t here = at - first_router_;
      visit(first_router_ + here / shape_.routers * shape_.routers + router % shape_.routers);
      visit(first_router_ + router);
    };
    const std::uint32_t source = from / shape_.hosts, target = to / shape_.hosts;
    const std::uint32_t source_group = source / in_group, target_group = target / in_group;
    visit(first_router_ + source);
    if (source_group != target_group) {
      visit_in_group(source_group * in_group + target_group);
      visit(first_router_ + target_group * in_group + source_group);
    }
    visit_in_group(target);
    visit(to);
  }

  const DragonflyShape shape_;
  std::uint32_t first_router_ = 0;  // vertex of the first router
  std::map<std::pair<std::uint32_t, std::uint32_t>, Way> ways_;
};

}  // namespace

RegularRoutes make_fat_tree(MediaGraph& graph, const ClusterLinks& links, const ClusterHosts& hosts,
                            const std::string& parameters) {
  auto lists = simgrid_parameters(parameters);
  if (!lists) return lists.error();
  const std::size_t levels = lists->front().front();
  const bool complete = lists->size() == 4 && (*lists)[1].size() == levels &&
                        (*lists)[2].size() == levels && (*lists)[3].size() == levels;
  if (!complete)
    return base::Error{"'" + parameters +
                       "' must be levels;down links;up links;parallel links, by level"};
  double expected = 1, most = 0, most_links = 0;
  for (std::size_t level = 0; level <= levels; ++level) {
    double nodes = 1;
    for (std::size_t at = 0; at < levels; ++at) nodes *= (*lists)[at < level ? 2 : 1][at];
    if (level == 0) expected = nodes;
    most += nodes;
    if (level < levels) most_links += 2 * nodes * (*lists)[2][level] * (*lists)[3][level];
  }
  if (expected != static_cast<double>(hosts.nodes.size()))
    return wrong_hosts(parameters, expected, hosts.nodes.size());
  if (most > kMostNodes || most_links > kMostLinks) return too_large(most, most_links);
  return std::unique_ptr<SimgridZones::LocalRoutes>(
      new FatTree(graph, links, hosts, std::move(*lists)));
}

RegularRoutes make_simgrid_torus(MediaGraph& graph, const ClusterLinks& links,
                                 const ClusterHosts& hosts, const std::string& parameters) {
  const auto lists = simgrid_parameters(parameters);
  if (!lists) return lists.error();
  double expected = 1;
  for (const std::uint32_t width : lists->front()) expected *= width;
  if (lists->size() != 1 || expected != static_cast<double>(hosts.nodes.size()))
    return wrong_hosts(parameters, expected, hosts.nodes.size());
  return std::unique_ptr<SimgridZones::LocalRoutes>(new Torus(graph, links, hosts, lists->front()));
}

RegularRoutes make_simgrid_dragonfly(MediaGraph& graph, const ClusterLinks& links,
                                     const ClusterHosts& hosts, const std::string& parameters) {
  const auto lists = simgrid_parameters(parameters);
  if (!lists) return lists.error();
  const Lists& p = *lists;
  if (p.size() != 4 || p[0].size() != 2 || p[1].size() != 2 || p[2].size() != 2 ||
      p[3].size() != 1) {
    return base::Error{"'" + parameters +
                       "' must be groups,links;chassis,links;routers,links;hosts"};
  }
  const DragonflyShape shape = {p[0][0], p[0][1], p[1][0], p[1][1], p[2][0], p[2][1], p[3][0]};
  const double expected = 1.0 * shape.groups * shape.chassis * shape.routers * shape.hosts;
  if (expected != static_cast<double>(hosts.nodes.size()))
    return wrong_hosts(parameters, expected, hosts.nodes.size());
  const double routers = 1.0 * shape.groups * shape.chassis * shape.routers;
  const double most_links = routers * (shape.hosts * 2.0 + shape.routers + shape.chassis +
                                       1.0 * shape.groups / shape.chassis);
  if (routers + expected > kMostNodes || most_links > kMostLinks)
    return too_large(routers + expected, most_links);
  if (shape.groups > shape.in_group())
    return base::Error{
        "'" + parameters +
        "' has more groups than routers in a group, each of which has one link to another"};
  return std::unique_ptr<SimgridZones::LocalRoutes>(new Dragonfly(graph, links, hosts, shape));
}

}  // namespace fathom::simulator
