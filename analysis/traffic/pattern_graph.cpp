// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/pattern_graph.h"

#include <algorithm>
#include <numeric>

#include "base/disjoint_sets.h"

namespace fathom::analysis {

PatternGraph::PatternGraph(std::vector<Edge> edges) : edges_(std::move(edges)) {
  ranks_.reserve(2 * edges_.size());
  for (const Edge& edge : edges_) {
    ranks_.push_back(edge.source);
    ranks_.push_back(edge.destination);
  }
  std::sort(ranks_.begin(), ranks_.end());
  ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
  std::vector<std::uint32_t> node(ranks_.empty() ? 0 : ranks_.back() + 1);
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) node[ranks_[i]] = i;
  first_.assign(ranks_.size() + 1, 0);
  for (Edge& edge : edges_) {
    edge.source = node[edge.source];
    edge.destination = node[edge.destination];
    ++first_[edge.source + 1];
    total_ += edge.weight;
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) {
    return std::pair(a.source, a.destination) < std::pair(b.source, b.destination);
  });
}

bool PatternGraph::has(std::uint32_t source, std::uint32_t destination) const {
  const auto row = edges_of(source);
  const auto found = std::lower_bound(
      row.begin(), row.end(), destination,
      [](const Edge& edge, std::uint32_t node) { return edge.destination < node; });
  return found != row.end() && found->destination == destination;
}

double PatternGraph::quantile(double part) const {
  // Pairs without traffic come first, with weight 0, so they are counted but not stored.
  const double missing = possible_pairs() - static_cast<double>(edges_.size());
  const double at = part * possible_pairs() - missing;
  if (at < 0 || edges_.empty()) return 0;
  std::vector<double> weights;
  weights.reserve(edges_.size());
  for (const Edge& edge : edges_) weights.push_back(edge.weight);
  const auto last = static_cast<double>(weights.size() - 1);
  const auto middle = weights.begin() + static_cast<std::ptrdiff_t>(std::min(at, last));
  std::nth_element(weights.begin(), middle, weights.end());
  return *middle;
}

std::vector<std::vector<Edge>> PatternGraph::parts() const {
  base::DisjointSets sets(size());
  for (const Edge& edge : edges_) sets.join(edge.source, edge.destination);
  const std::vector<std::uint32_t> number = sets.numbered();
  std::vector<std::vector<Edge>> parts(sets.sets());
  for (Edge edge : edges_) {
    std::vector<Edge>& part = parts[number[edge.source]];
    edge.source = ranks_[edge.source];
    edge.destination = ranks_[edge.destination];
    part.push_back(edge);
  }
  return parts;
}

}  // namespace fathom::analysis
