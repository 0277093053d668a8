// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>

#include "analysis/traffic/pattern_grid.h"
#include "analysis/traffic/pattern_grid_fit.h"
#include "base/order/sort_stably.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostTried = 8;

class NaturalGridSearch {
 public:
  NaturalGridSearch(const PatternGraph& graph, const Thresholds& thresholds)
      : graph_(graph),
        thresholds_(thresholds),
        size_(graph.size()),
        pairs_(graph.size()),
        weights_(graph.size()),
        floor_(graph.quantile(1 - thresholds.pattern_present)) {
    for (const Edge& edge : graph.edges()) {
      const auto distance = static_cast<std::size_t>(std::abs(
          static_cast<std::int64_t>(edge.destination) - static_cast<std::int64_t>(edge.source)));
      ++pairs_[distance];
      weights_[distance] += above_floor(edge);
    }
  }

  std::optional<Match> best() {
    extend({1}, 0);
    base::sort_stably(chains_, [](const Chain& a, const Chain& b) {
      if (a.most != b.most) return a.most > b.most;
      return a.strides.size() < b.strides.size();
    });
    if (chains_.size() > kMostTried) chains_.resize(kMostTried);
    std::optional<Match> best;
    double most = 0;
    for (const Chain& chain : chains_) {
      auto match = fit_grid(graph_, extents_of(chain.strides), {}, thresholds_.pattern_present);
      const double explained = match ? explained_above_floor(*match) : 0;
      if (explained <= most * (1 + 1e-9)) continue;
      most = explained;
      best = std::move(match);
    }
    return best;
  }

 private:
  // Weight that (nearly) every pair has is no evidence for a grid. If two grids explain the rest
  // equally well, the one with fewer dimensions wins.
  double above_floor(const Edge& edge) const { return std::max(edge.weight - floor_, 0.0); }

  double explained_above_floor(const Match& match) const {
    double sum = 0;
    for (const std::uint32_t edge : match.edges) sum += above_floor(graph_.edges()[edge]);
    return sum;
  }

  using Strides = std::vector<std::int64_t>;  // ascending
  struct Chain {
    Strides strides;
    double most = 0;  // upper limit of what its neighbours explain
  };

  // Whether enough pairs have this distance for a dimension of this extent, in at least one
  // direction.
  bool enough(std::int64_t stride, std::int64_t extent) const {
    const double expected =
        static_cast<double>(size_) * static_cast<double>(extent - 1) / static_cast<double>(extent);
    return static_cast<double>(pairs_[static_cast<std::size_t>(stride)]) >=
           thresholds_.pattern_present * expected;
  }

  double weight_of(std::int64_t stride, std::int64_t extent) const {
    const double ends = extent > 2 ? weights_[static_cast<std::size_t>(stride * (extent - 1))] : 0;
    return weights_[static_cast<std::size_t>(stride)] + ends;
  }

  // Ends the chain with its last stride, or adds one more.
  void extend(const Strides& strides, double explained) {
    const std::int64_t last = strides.back();
    if (enough(last, size_ / last))
      chains_.push_back({strides, explained + weight_of(last, size_ / last)});
    if (strides.size() == kMostDimensions) return;
    for (std::int64_t next = 2 * last; next < size_; next += last) {
      if (size_ % next != 0 || !enough(last, next / last)) continue;
      Strides longer = strides;
      longer.push_back(next);
      extend(longer, explained + weight_of(last, next / last));
    }
  }

  Extents extents_of(const Strides& strides) const {
    Extents extents;
    std::int64_t above = size_;
    for (auto stride = strides.rbegin(); stride != strides.rend(); ++stride) {
      extents.push_back(above / *stride);
      above = *stride;
    }
    return extents;
  }

  const PatternGraph& graph_;
  const Thresholds& thresholds_;
  const std::int64_t size_;
  std::vector<std::uint64_t> pairs_;  // by distance
  std::vector<double> weights_;       // above the floor
  const double floor_;
  std::vector<Chain> chains_;
};

}  // namespace

std::optional<Match> natural_grid(const PatternGraph& graph, const Thresholds& thresholds) {
  if (graph.size() < 3) return {};
  return NaturalGridSearch(graph, thresholds).best();
}

}  // namespace fathom::analysis
