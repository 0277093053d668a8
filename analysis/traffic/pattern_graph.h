// SPDX-License-Identifier: BSD-3-Clause
// Who sends to whom, with weights, as the pattern searches need it: ranks numbered 0..size-1
// without gaps in the order of world ranks, no messages to oneself, one edge per ordered pair.
//
// Memory and cost are proportional to the communicating pairs.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "profile/profile.h"

namespace fathom::analysis {

struct Edge {
  std::uint32_t source = 0, destination = 0;
  std::uint32_t id = 0;  // index in the list with which the whole search began
  double weight = 0;
};

class PatternGraph {
 public:
  // `edges` in world ranks.
  explicit PatternGraph(std::vector<Edge> edges);

  std::uint32_t size() const { return static_cast<std::uint32_t>(ranks_.size()); }
  std::uint32_t world_rank(std::uint32_t node) const { return ranks_[node]; }
  const std::vector<std::uint32_t>& world_ranks() const { return ranks_; }
  const std::vector<Edge>& edges() const { return edges_; }  // by (source, destination)
  std::span<const Edge> edges_of(std::uint32_t node) const {
    return {edges_.data() + first_[node], first_[node + 1] - first_[node]};
  }
  bool has(std::uint32_t source, std::uint32_t destination) const;
  double total() const { return total_; }
  double possible_pairs() const {
    return static_cast<double>(size()) * (static_cast<double>(size()) - 1);
  }

  // The quantile of weight over all possible pairs; pairs without traffic count as 0.
  double quantile(double part) const;

  // Its edges with world ranks, split into connected parts (ignoring direction).
  std::vector<std::vector<Edge>> parts() const;

 private:
  std::vector<std::uint32_t> ranks_;
  std::vector<Edge> edges_;
  std::vector<std::size_t> first_;
  double total_ = 0;
};

}  // namespace fathom::analysis
