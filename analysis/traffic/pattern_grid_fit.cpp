// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/pattern_grid_fit.h"

#include <algorithm>
#include <utility>

namespace fathom::analysis {
namespace {

// A step along one dimension: up or down, inside or across the wrap-around.
enum GridStep { kUp, kDown, kUpWrap, kDownWrap, kSteps };

struct Tally {
  std::uint64_t pairs[kSteps] = {};  // without faint pairs
  double weight[kSteps] = {};
  double met[kSteps] = {};  // all pairs
};

class Fit {
 public:
  Fit(const PatternGraph& graph, const Extents& extents, const std::vector<std::uint32_t>& place,
      double present)
      : graph_(graph), extents_(extents), place_(place), least_present_(present) {}

  std::optional<Match> match() {
    count();
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      if (!judge(d)) return {};
    }
    Match match;
    collect(match);
    match.extents = extents_;
    match.periodic = periodic_;
    match.present = present_;
    match.kind = kind();
    match.rank_order = place_.empty();
    return match;
  }

 private:
  struct Move {
    std::size_t moved = 0;      // dimensions in which the ends differ
    std::size_t dimension = 0;  // the last of these
    GridStep step = kUp;
    bool wraps[kMostDimensions] = {};
    bool near = true;  // at most one step in each
  };

  Move move_of(const Edge& edge) const {
    Move move;
    std::int64_t a = place_.empty() ? edge.source : place_[edge.source];
    std::int64_t b = place_.empty() ? edge.destination : place_[edge.destination];
    for (std::size_t d = extents_.size(); d-- > 0;) {
      const std::int64_t extent = extents_[d], delta = b % extent - a % extent;
      a /= extent;
      b /= extent;
      if (delta == 0) continue;
      ++move.moved;
      move.dimension = d;
      const bool wrap = extent > 2 && (delta == extent - 1 || delta == 1 - extent);
      move.wraps[d] = wrap;
      if (wrap) {
        move.step = delta < 0 ? kUpWrap : kDownWrap;
      } else if (delta == 1 || delta == -1) {
        move.step = delta > 0 ? kUp : kDown;
      } else {
        move.near = false;
        return move;
      }
    }
    return move;
  }

  void count() {
    tallies_.resize(extents_.size());
    for (const Edge& edge : graph_.edges()) {
      const Move move = move_of(edge);
      if (!move.near) {
        far_weight_ += edge.weight;
      } else if (move.moved == 1) {
        Tally& tally = tallies_[move.dimension];
        ++tally.met[move.step];
        tally.weight[move.step] += edge.weight;
      } else {
        diagonals_.push_back({move, edge.weight});
      }
    }
    for (const Edge& edge : graph_.edges()) {
      const Move move = move_of(edge);
      if (!move.near || move.moved != 1) continue;
      Tally& tally = tallies_[move.dimension];
      tally.pairs[move.step] +=
          edge.weight * kFaint >= tally.weight[move.step] / tally.met[move.step];
    }
  }

  double part(std::uint64_t pairs, double expected) const {
    return static_cast<double>(pairs) / expected;
  }

  // Which directions of dimension d are used, and whether its ends communicate.
  bool judge(std::size_t d) {
    const double extent = static_cast<double>(extents_[d]),
                 lines = static_cast<double>(graph_.size()) / extent;
    const Tally& tally = tallies_[d];
    bool used[2] = {}, wrap[2] = {};
    for (const int direction : {0, 1}) {
      const double inside = part(tally.pairs[kUp + direction], lines * (extent - 1));
      const double over = extents_[d] > 2 ? part(tally.pairs[kUpWrap + direction], lines) : 0;
      used[direction] = inside >= least_present_;
      wrap[direction] = used[direction] && over >= least_present_;
      if (used[direction]) present_ = std::min(present_, inside);
      if (wrap[direction]) present_ = std::min(present_, over);
    }
    if (!used[0] && !used[1]) return false;
    both_ = both_ && used[0] && used[1];
    for (const int direction : {0, 1}) {
      allowed_.push_back(used[direction]);
      allowed_wrap_.push_back(wrap[direction]);
    }
    periodic_.push_back(wrap[0] || wrap[1]);
    return true;
  }

  bool wraps_allowed(const Move& move) const {
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      if (move.wraps[d] && !periodic_[d]) return false;
    }
    return true;
  }

  bool diagonals_talk() const {
    if (extents_.size() < 2) return false;
    double talked = 0, weight = 0;
    for (const auto& [move, its_weight] : diagonals_) {
      if (!wraps_allowed(move)) continue;
      ++talked;
      weight += its_weight;
    }
    const double others = graph_.possible_pairs() - expected_diagonals() - expected_faces();
    if (others <= 0) return false;  // all-to-all
    return talked >= least_present_ * expected_diagonals() &&
           weight / talked >= kFaint * far_weight_ / others;
  }

  // Number of ordered neighbour pairs along one line of dimension d.
  double steps(std::size_t d) const {
    return 2 * static_cast<double>(periodic_[d] ? extents_[d] : extents_[d] - 1);
  }

  double expected_faces() const {
    double faces = 0;
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      faces += steps(d) * static_cast<double>(graph_.size()) / static_cast<double>(extents_[d]);
    }
    return faces;
  }

  // The ordered pairs that differ by at most one step in each dimension number the product, over
  // the dimensions, of such pairs along one line (each rank with itself included). Subtract the
  // pairs with no step and with one.
  double expected_diagonals() const {
    double near = 1;
    for (std::size_t d = 0; d < extents_.size(); ++d)
      near *= static_cast<double>(extents_[d]) + steps(d);
    return near - expected_faces() - static_cast<double>(graph_.size());
  }

  void collect(Match& match) {
    match.corners = diagonals_talk();
    for (std::uint32_t i = 0; i < graph_.edges().size(); ++i) {
      const Move move = move_of(graph_.edges()[i]);
      if (!move.near) continue;
      const bool diagonal = move.moved > 1;
      if (diagonal ? match.corners && wraps_allowed(move) : is_allowed(move))
        match.edges.push_back(i);
    }
  }

  bool is_allowed(const Move& move) const {
    const std::size_t direction = move.step % 2, at = 2 * move.dimension + direction;
    return move.step >= kUpWrap ? allowed_wrap_[at] : allowed_[at];
  }

  std::string kind() const {
    if (both_) return "halo";
    if (extents_.size() > 1) return "nearest-neighbour";
    return periodic_[0] ? "ring" : "pipeline";
  }

  const PatternGraph& graph_;
  const Extents& extents_;
  const std::vector<std::uint32_t>& place_;
  const double least_present_;
  std::vector<Tally> tallies_;
  std::vector<std::pair<Move, double>> diagonals_;
  double far_weight_ = 0;  // of pairs that are not neighbours
  std::vector<bool> allowed_, allowed_wrap_, periodic_;
  bool both_ = true;
  double present_ = 1;
};

}  // namespace

std::optional<Match> fit_grid(const PatternGraph& graph, const Extents& extents,
                              const std::vector<std::uint32_t>& place, double present) {
  if (extents.empty() || extents.size() > kMostDimensions) return {};
  return Fit(graph, extents, place, present).match();
}

}  // namespace fathom::analysis
