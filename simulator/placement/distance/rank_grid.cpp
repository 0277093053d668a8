// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/distance/rank_grid.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "base/disjoint_sets.h"

namespace fathom::simulator {
namespace {

constexpr std::size_t kMostPartners = 32;

struct Edge {
  std::uint32_t to;      // position in `ranks`
  std::uint32_t number;  // the same in both directions
};

class GridFinder {
 public:
  GridFinder(const RankGraph& graph, double least_bytes) {
    std::vector<std::uint32_t> position(graph.rank_count(), 0);
    for (std::uint32_t rank = 0; rank < graph.rank_count(); ++rank) {
      const auto partners = graph.of(rank);
      if (std::none_of(partners.begin(), partners.end(),
                       [&](const auto& edge) { return edge.bytes >= least_bytes; }))
        continue;
      position[rank] = static_cast<std::uint32_t>(grid_.ranks.size());
      grid_.ranks.push_back(rank);
    }
    edges_.resize(grid_.ranks.size());
    for (const std::uint32_t rank : grid_.ranks) {
      for (const RankGraph::Neighbour& edge : graph.of(rank)) {
        if (edge.bytes < least_bytes || rank > edge.rank) continue;
        edges_[position[rank]].push_back({position[edge.rank], edge_count_});
        edges_[position[edge.rank]].push_back({position[rank], edge_count_++});
      }
    }
    for (std::vector<Edge>& list : edges_) {
      std::sort(list.begin(), list.end(),
                [](const Edge& one, const Edge& other) { return one.to < other.to; });
    }
  }

  std::optional<RankGrid> run() {
    if (grid_.ranks.size() < 2 || !is_connected()) return std::nullopt;
    for (const std::vector<Edge>& list : edges_) {
      if (list.size() > kMostPartners) return std::nullopt;
    }
    const std::vector<std::uint32_t> dimension = dimensions();
    const std::size_t count = 1 + *std::max_element(dimension.begin(), dimension.end());
    grid_.coordinates.assign(edges_.size(), std::vector<std::uint32_t>(count));
    std::size_t points = 1;
    for (std::uint32_t at = 0; at < count; ++at) {
      if (!add_dimension(at, dimension)) return std::nullopt;
      points *= grid_.extent.back();
      if (points > edges_.size()) return std::nullopt;
    }
    // Without this, a graph that is only locally a grid would pass.
    const std::set<std::vector<std::uint32_t>> distinct(grid_.coordinates.begin(),
                                                        grid_.coordinates.end());
    if (points != edges_.size() || distinct.size() != points) return std::nullopt;
    return std::move(grid_);
  }

 private:
  bool is_connected() const {
    base::DisjointSets joined(edges_.size());
    for (std::uint32_t at = 0; at < edges_.size(); ++at) {
      for (const Edge& edge : edges_[at]) joined.join(at, edge.to);
    }
    return joined.sets() == 1;
  }

  const Edge* find(std::uint32_t from, std::uint32_t to) const {
    const auto found =
        std::lower_bound(edges_[from].begin(), edges_[from].end(), to,
                         [](const Edge& edge, std::uint32_t other) { return edge.to < other; });
    return found != edges_[from].end() && found->to == to ? &*found : nullptr;
  }

  // For each edge.
  std::vector<std::uint32_t> dimensions() const {
    base::DisjointSets joined(edge_count_);
    for (std::uint32_t at = 0; at < edges_.size(); ++at) {
      for (std::size_t one = 0; one < edges_[at].size(); ++one) {
        for (std::size_t other = one + 1; other < edges_[at].size(); ++other)
          join_at(at, edges_[at][one], edges_[at][other], joined);
      }
    }
    return joined.numbered();
  }

  void join_at(std::uint32_t corner, const Edge& one, const Edge& other,
               base::DisjointSets& joined) const {
    const Edge *across = nullptr, *opposite = nullptr;
    std::size_t squares = 0;
    for (const Edge& edge : edges_[one.to]) {
      if (edge.to == corner) continue;
      if (const Edge* closing = find(other.to, edge.to)) {
        ++squares;
        across = &edge;      // opposite to `other`
        opposite = closing;  // opposite to `one`
      }
    }
    const bool has_diagonal =
        find(one.to, other.to) != nullptr || (squares == 1 && find(corner, across->to) != nullptr);
    if (squares != 1 || has_diagonal) {
      joined.join(one.number, other.number);
    } else {
      joined.join(one.number, opposite->number);
      joined.join(other.number, across->number);
    }
  }

  // Ranks with the same coordinate are those that the edges of the other dimensions join.
  bool add_dimension(std::uint32_t which, const std::vector<std::uint32_t>& dimension) {
    base::DisjointSets joined(edges_.size());
    for (std::uint32_t at = 0; at < edges_.size(); ++at) {
      for (const Edge& edge : edges_[at]) {
        if (dimension[edge.number] != which) joined.join(at, edge.to);
      }
    }
    const std::vector<std::uint32_t> layer = joined.numbered();
    std::vector<std::set<std::uint32_t>> beside(joined.sets());
    for (std::uint32_t at = 0; at < edges_.size(); ++at) {
      for (const Edge& edge : edges_[at]) {
        if (layer[at] != layer[edge.to]) beside[layer[at]].insert(layer[edge.to]);
      }
    }
    const auto order = line_of(beside);
    if (!order) return false;
    for (std::uint32_t at = 0; at < edges_.size(); ++at)
      grid_.coordinates[at][which] = (*order)[layer[at]];
    grid_.extent.push_back(static_cast<std::uint32_t>(beside.size()));
    grid_.periodic.push_back(beside.size() > 2 && beside.front().size() == 2 &&
                             std::all_of(beside.begin(), beside.end(),
                                         [](const auto& list) { return list.size() == 2; }));
    return true;
  }

  // The positions of layers along a path or a ring; nullopt if they form neither.
  static std::optional<std::vector<std::uint32_t>> line_of(
      const std::vector<std::set<std::uint32_t>>& beside) {
    std::uint32_t at = 0;
    for (std::uint32_t layer = 0; layer < beside.size(); ++layer) {
      if (beside[layer].empty() || beside[layer].size() > 2) return std::nullopt;
      if (beside[layer].size() == 1) at = layer;
    }
    std::vector<std::uint32_t> position(beside.size(), kUnknown);
    for (std::uint32_t next = 0; next < beside.size(); ++next) {
      position[at] = next;
      const auto onward = std::find_if(beside[at].begin(), beside[at].end(),
                                       [&](auto layer) { return position[layer] == kUnknown; });
      if (onward == beside[at].end()) {
        if (next + 1 < beside.size()) return std::nullopt;
        break;
      }
      at = *onward;
    }
    return position;
  }

  static constexpr std::uint32_t kUnknown = 0xffffffff;

  RankGrid grid_;
  std::uint32_t edge_count_ = 0;
  std::vector<std::vector<Edge>> edges_;  // by position in grid_.ranks, ascending by `to`
};

}  // namespace

std::optional<RankGrid> find_rank_grid(const RankGraph& graph, double least_bytes) {
  return GridFinder(graph, least_bytes).run();
}

}  // namespace fathom::simulator
