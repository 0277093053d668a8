// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include "analysis/traffic/pattern_grid.h"
#include "analysis/traffic/pattern_grid_fit.h"
#include "base/disjoint_sets.h"
#include "base/order/sort_stably.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostNeighbours = 12;

struct Neighbour {
  std::uint32_t node = 0;
  std::uint32_t line = 0;  // number of the undirected edge
  bool operator<(const Neighbour& other) const { return node < other.node; }
};

// The graph without directions.
class Lines {
 public:
  explicit Lines(const PatternGraph& graph) : neighbours_(graph.size()) {
    for (const Edge& edge : graph.edges()) {
      if (edge.source > edge.destination && graph.has(edge.destination, edge.source)) continue;
      neighbours_[edge.source].push_back({edge.destination, count_});
      neighbours_[edge.destination].push_back({edge.source, count_});
      ends_.push_back({edge.source, edge.destination});
      ++count_;
    }
    for (auto& list : neighbours_) {
      std::sort(list.begin(), list.end());
      most_ = std::max(most_, list.size());
    }
  }

  std::uint32_t count() const { return count_; }
  std::size_t most_neighbours() const { return most_; }
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(neighbours_.size()); }
  const std::vector<Neighbour>& of(std::uint32_t node) const { return neighbours_[node]; }
  std::pair<std::uint32_t, std::uint32_t> ends(std::uint32_t line) const { return ends_[line]; }

  bool adjacent(std::uint32_t a, std::uint32_t b) const {
    return std::binary_search(neighbours_[a].begin(), neighbours_[a].end(), Neighbour{b, 0});
  }

 private:
  std::vector<std::vector<Neighbour>> neighbours_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends_;
  std::uint32_t count_ = 0;
  std::size_t most_ = 0;
};

// Unites lines that belong to one dimension, given two lines that meet at `node`.
void relate(const Lines& lines, std::uint32_t node, Neighbour a, Neighbour b,
            base::DisjointSets& dimensions) {
  if (lines.adjacent(a.node, b.node)) return dimensions.join(a.line, b.line);
  std::vector<std::pair<Neighbour, Neighbour>> opposite;  // the other two lines of each square
  const auto& of_a = lines.of(a.node);
  const auto& of_b = lines.of(b.node);
  for (std::size_t i = 0, j = 0; i < of_a.size() && j < of_b.size();) {
    if (of_a[i].node < of_b[j].node) {
      ++i;
    } else if (of_b[j].node < of_a[i].node) {
      ++j;
    } else {
      if (of_a[i].node != node) opposite.push_back({of_a[i], of_b[j]});
      ++i, ++j;
    }
  }
  if (opposite.size() != 1) return dimensions.join(a.line, b.line);
  dimensions.join(a.line, opposite[0].second.line);
  dimensions.join(b.line, opposite[0].first.line);
}

// The dimension of each line, and the number of dimensions.
std::pair<std::vector<std::uint32_t>, std::uint32_t> dimensions_of(const Lines& lines) {
  base::DisjointSets dimensions(lines.count());
  for (std::uint32_t node = 0; node < lines.nodes(); ++node) {
    const auto& list = lines.of(node);
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (std::size_t j = i + 1; j < list.size(); ++j)
        relate(lines, node, list[i], list[j], dimensions);
    }
  }
  return {dimensions.numbered(), static_cast<std::uint32_t>(dimensions.sets())};
}

struct Coordinates {
  std::uint32_t extent = 0;
  std::vector<std::uint32_t> of;  // by node
};

// The order of the layers, which must form a path or a cycle. Empty if they do not.
std::vector<std::uint32_t> order_of(const std::vector<std::vector<std::uint32_t>>& next_to) {
  std::uint32_t at = 0;
  for (std::uint32_t layer = 0; layer < next_to.size(); ++layer) {
    if (next_to[layer].size() > 2) return {};
    if (next_to[layer].size() == 1 && next_to[at].size() != 1) at = layer;  // an end
  }
  std::vector<std::uint32_t> order = {at};
  std::vector<bool> seen(next_to.size());
  seen[at] = true;
  for (bool moved = true; moved;) {
    moved = false;
    for (const std::uint32_t layer : next_to[order.back()]) {
      if (seen[layer]) continue;
      seen[layer] = moved = true;
      order.push_back(layer);
      break;
    }
  }
  return order.size() == next_to.size() ? order : std::vector<std::uint32_t>{};
}

Coordinates coordinates_along(std::uint32_t dimension, const Lines& lines,
                              const std::vector<std::uint32_t>& dimension_of) {
  base::DisjointSets layers(lines.nodes());
  for (std::uint32_t line = 0; line < lines.count(); ++line) {
    const auto [a, b] = lines.ends(line);
    if (dimension_of[line] != dimension) layers.join(a, b);
  }
  const std::vector<std::uint32_t> layer = layers.numbered();
  const auto count = static_cast<std::uint32_t>(layers.sets());
  std::vector<std::vector<std::uint32_t>> next_to(count);
  for (std::uint32_t line = 0; line < lines.count(); ++line) {
    if (dimension_of[line] != dimension) continue;
    const auto [a, b] = lines.ends(line);
    for (const auto& [from, to] : {std::pair(layer[a], layer[b]), std::pair(layer[b], layer[a])}) {
      auto& list = next_to[from];
      if (std::find(list.begin(), list.end(), to) == list.end()) list.push_back(to);
    }
  }
  const std::vector<std::uint32_t> order = order_of(next_to);
  if (order.empty()) return {};
  std::vector<std::uint32_t> position(count);
  for (std::uint32_t i = 0; i < count; ++i) position[order[i]] = i;
  Coordinates coordinates{count, {}};
  for (const std::uint32_t of_node : layer) coordinates.of.push_back(position[of_node]);
  return coordinates;
}

// Row-major place of each node; empty if two nodes would share a place.
std::vector<std::uint32_t> places_of(const std::vector<Coordinates>& dimensions,
                                     std::uint32_t nodes) {
  std::vector<std::uint32_t> place(nodes, 0);
  std::vector<bool> taken(nodes);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    std::uint64_t at = 0;
    for (const Coordinates& dimension : dimensions) at = at * dimension.extent + dimension.of[node];
    if (at >= nodes || taken[at]) return {};
    taken[at] = true;
    place[node] = static_cast<std::uint32_t>(at);
  }
  return place;
}

std::optional<Match> fit(const PatternGraph& graph, std::vector<Coordinates> dimensions,
                         double present) {
  base::sort_stably(dimensions,
                    [](const Coordinates& a, const Coordinates& b) { return a.extent > b.extent; });
  double product = 1;
  Extents extents;
  for (const Coordinates& dimension : dimensions) {
    product *= dimension.extent;
    extents.push_back(dimension.extent);
  }
  if (product != graph.size()) return {};
  const std::vector<std::uint32_t> place = places_of(dimensions, graph.size());
  if (place.empty()) return {};
  return fit_grid(graph, extents, place, present);
}

// Combines two dimensions of extent 2 into a cycle of four: 0, 1 of the first with 0; then 1, 0
// with 1.
Coordinates joined(const Coordinates& a, const Coordinates& b) {
  static constexpr std::uint32_t kRound[2][2] = {{0, 3}, {1, 2}};
  Coordinates made{4, {}};
  for (std::size_t node = 0; node < a.of.size(); ++node)
    made.of.push_back(kRound[a.of[node]][b.of[node]]);
  return made;
}

// A cycle of four appears as two lines of two. If the longer dimensions are all closed, so are
// these.
std::optional<Match> fit_closed(const PatternGraph& graph, std::vector<Coordinates> dimensions,
                                double present) {
  std::vector<Coordinates> twos, merged;
  for (Coordinates& dimension : dimensions)
    (dimension.extent == 2 ? twos : merged).push_back(std::move(dimension));
  if (merged.empty() || twos.size() < 2) return {};
  for (; twos.size() >= 2; twos.resize(twos.size() - 2))
    merged.push_back(joined(twos[twos.size() - 2], twos.back()));
  merged.insert(merged.end(), twos.begin(), twos.end());
  auto match = fit(graph, std::move(merged), present);
  if (!match) return {};
  for (std::size_t d = 0; d < match->extents.size(); ++d) {
    if (match->extents[d] > 2 && !match->periodic[d]) return {};
  }
  match->alternative = "a grid with 2 x 2 ranks in place of each closed line of 4";
  return match;
}

// Four ranks in a cycle appear as a square; as a ring they may be used in one direction only.
std::optional<Match> closed_line_of_four(const PatternGraph& graph, const Lines& lines,
                                         double present) {
  std::vector<std::uint32_t> place(4, 0);
  std::uint32_t at = 0, before = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    place[at] = i;
    const auto& list = lines.of(at);
    const std::uint32_t next = list[0].node == before && i > 0 ? list[1].node : list[0].node;
    before = at;
    at = next;
  }
  return fit_grid(graph, {4}, place, present);
}

}  // namespace

std::optional<Match> renumbered_grid(const PatternGraph& graph, const Thresholds& thresholds) {
  if (graph.size() < 4) return {};
  const Lines lines(graph);
  if (lines.most_neighbours() > kMostNeighbours) return {};
  const auto [dimension_of, count] = dimensions_of(lines);
  std::vector<Coordinates> dimensions;
  for (std::uint32_t dimension = 0; dimension < count; ++dimension) {
    dimensions.push_back(coordinates_along(dimension, lines, dimension_of));
    if (dimensions.back().extent == 0) return {};
  }
  if (graph.size() == 4 && count == 2)
    return closed_line_of_four(graph, lines, thresholds.pattern_present);
  if (auto closed = fit_closed(graph, dimensions, thresholds.pattern_present)) return closed;
  return fit(graph, std::move(dimensions), thresholds.pattern_present);
}

}  // namespace fathom::analysis
