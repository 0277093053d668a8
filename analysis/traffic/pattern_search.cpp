// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/pattern_search.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "analysis/traffic/pattern_grid.h"
#include "analysis/traffic/pattern_shapes.h"

namespace fathom::analysis {
namespace {

constexpr int kMostRounds = 4;
constexpr double kMostOfRest = 0.8;
constexpr double kContrast = 8;
constexpr double kGap = 4;  // ratio of weights that separates heavy from light

// If several explain the same traffic, the earlier one wins.
using Detector = std::optional<Match> (*)(const PatternGraph&, const Thresholds&);
constexpr Detector kDetectors[] = {ping_pong,     all_to_all,      rows_and_columns,
                                   butterfly,     natural_grid,    star,
                                   dissemination, renumbered_grid, tree};

double sum_of(const std::vector<Edge>& edges) {
  double sum = 0;
  for (const Edge& edge : edges) sum += edge.weight;
  return sum;
}

// The edges above each of the `number` widest gaps in weight (each at least kGap), if they carry at
// least half the weight.
std::vector<std::vector<Edge>> heavy_parts(const std::vector<Edge>& edges, std::size_t number) {
  std::vector<double> weights;
  for (const Edge& edge : edges) weights.push_back(edge.weight);
  std::sort(weights.begin(), weights.end());
  std::vector<std::pair<double, double>> gaps;  // ratio, weight above it
  for (std::size_t i = 1; i < weights.size(); ++i) {
    const double ratio = weights[i] / std::max(weights[i - 1], 1e-300);
    if (ratio >= kGap) gaps.push_back({ratio, weights[i]});
  }
  std::sort(gaps.rbegin(), gaps.rend());
  gaps.resize(std::min(gaps.size(), number));
  std::vector<std::vector<Edge>> parts;
  for (const auto& [ratio, least] : gaps) {
    std::vector<Edge> part;
    for (const Edge& edge : edges) {
      if (edge.weight >= least) part.push_back(edge);
    }
    if (2 * sum_of(part) >= sum_of(edges)) parts.push_back(std::move(part));
  }
  return parts;
}

class PatternSearch {
 public:
  PatternSearch(bool cartesian, const Thresholds& thresholds)
      : cartesian_(cartesian), thresholds_(thresholds) {}

  std::vector<FoundPattern> run(std::vector<Edge> edges) {
    total_ = sum_of(edges);
    rest_ = std::move(edges);
    for (std::uint32_t i = 0; i < rest_.size(); ++i) rest_[i].id = i;
    std::vector<FoundPattern> found;
    for (int round = 0; round < kMostRounds; ++round) {
      if (sum_of(rest_) < thresholds_.pattern_share * total_) break;
      auto best = best_of_rest();
      if (!best) break;
      take_out(*best);
      found.push_back(std::move(*best));
    }
    return found;
  }

 private:
  // Kind, extents, periodicity and so on; groups with the same key are one pattern.
  using Key = std::tuple<std::string, std::vector<std::int64_t>, std::vector<bool>, bool>;
  struct Candidate {
    FoundPattern pattern;
    double pairs_possible = 0;
  };

  std::optional<FoundPattern> best_of_rest() const {
    std::optional<FoundPattern> best;
    const auto consider = [&](const std::vector<Edge>& edges) {
      for (auto& [key, candidate] : candidates_in(edges)) {
        if (!stands_out(candidate)) continue;
        if (best && candidate.pattern.explained <= best->explained * (1 + 1e-9)) continue;
        best = std::move(candidate.pattern);
      }
    };
    consider(rest_);
    if (best && best->shape.kind == "all-to-all") return best;
    for (const auto& part : heavy_parts(rest_, 2)) consider(part);
    return best;
  }

  std::map<Key, Candidate> candidates_in(const std::vector<Edge>& edges) const {
    std::map<Key, Candidate> candidates;
    for (std::vector<Edge>& part : PatternGraph(edges).parts()) {
      const PatternGraph graph(std::move(part));
      const std::optional<Match> match = best_match(graph);
      if (!match) continue;
      Candidate& candidate =
          candidates[{match->kind, match->extents, match->periodic, match->corners}];
      add_group(graph, *match, candidate);
    }
    return candidates;
  }

  std::optional<Match> best_match(const PatternGraph& graph) const {
    std::optional<Match> best;
    double most = 0;
    for (const Detector detector : kDetectors) {
      if (best && most >= graph.total() * (1 - 1e-9)) break;
      std::optional<Match> match = detector(graph, thresholds_);
      if (!match || (cartesian_ && match->kind == "butterfly" && graph.size() <= 64)) continue;
      const double explained = match->explained(graph);
      if (explained <= most * (1 + 1e-9) || !is_shape_of(graph, *match, explained)) continue;
      most = explained;
      best = std::move(match);
      // It claims only what all pairs have; the rest of each pair is searched further.
      if (best->kind == "all-to-all" && most >= thresholds_.pattern_share * graph.total()) break;
    }
    if (best) name_hypercube(graph, *best);
    return best;
  }

  // Whether it explains most of the part's traffic, or traffic that stands out from the rest.
  static bool is_shape_of(const PatternGraph& graph, const Match& match, double explained) {
    return match.kind == "all-to-all" ||
           contrasts(explained, static_cast<double>(match.edges.size()), graph.total(),
                     graph.possible_pairs());
  }

  static bool contrasts(double explained, double pairs, double total, double possible_pairs) {
    if (explained >= kMostOfRest * total) return true;
    return explained / pairs >=
           kContrast * (total - explained) / std::max(possible_pairs - pairs, 1.0);
  }

  // A grid of lines of two is a butterfly or a grid; only the communicator distinguishes them.
  void name_hypercube(const PatternGraph& graph, Match& match) const {
    const bool twos =
        match.extents.size() > 1 &&
        std::all_of(match.extents.begin(), match.extents.end(), [](auto e) { return e == 2; });
    if (match.kind != "halo" || !twos) return;
    if (cartesian_) {
      match.alternative = "a butterfly of " + std::to_string(graph.size());
      return;
    }
    match.kind = "butterfly";
    match.alternative =
        "a halo exchange on a grid with two ranks, or four in a closed line, in each dimension";
    match.extents.clear();
    match.periodic.clear();
  }

  void add_group(const PatternGraph& graph, const Match& match, Candidate& candidate) const {
    FoundPattern& pattern = candidate.pattern;
    if (pattern.groups++ == 0) {
      pattern.shape = match;
      pattern.shape.edges.clear();
    }
    pattern.shape.rank_order = pattern.shape.rank_order && match.rank_order;
    pattern.shape.hub = match.hub < 0 || pattern.groups > 1
                            ? profile::kNone
                            : graph.world_rank(static_cast<std::uint32_t>(match.hub));
    pattern.present = std::min(pattern.present, match.present);
    pattern.explained += match.explained(graph);
    for (const std::uint32_t index : match.edges) {
      Edge edge = graph.edges()[index];
      edge.source = graph.world_rank(edge.source);
      edge.destination = graph.world_rank(edge.destination);
      edge.weight = std::min(edge.weight, match.level);
      pattern.edges.push_back(edge);
    }
    pattern.ranks.insert(pattern.ranks.end(), graph.world_ranks().begin(),
                         graph.world_ranks().end());
    candidate.pairs_possible += graph.possible_pairs();
  }

  // Compares with all traffic among the pattern's ranks, including what a heavy part left out.
  bool stands_out(Candidate& candidate) const {
    FoundPattern& pattern = candidate.pattern;
    if (pattern.explained < thresholds_.pattern_share * total_) return false;
    std::sort(pattern.ranks.begin(), pattern.ranks.end());
    double among = 0;
    for (const Edge& edge : rest_) {
      if (std::binary_search(pattern.ranks.begin(), pattern.ranks.end(), edge.source) &&
          std::binary_search(pattern.ranks.begin(), pattern.ranks.end(), edge.destination)) {
        among += edge.weight;
      }
    }
    return pattern.shape.kind == "all-to-all" ||
           contrasts(pattern.explained, static_cast<double>(pattern.edges.size()), among,
                     candidate.pairs_possible);
  }

  void take_out(const FoundPattern& pattern) {
    std::unordered_map<std::uint32_t, double> explained;
    for (const Edge& edge : pattern.edges) explained[edge.id] = edge.weight;
    for (Edge& edge : rest_) {
      if (const auto found = explained.find(edge.id); found != explained.end())
        edge.weight -= found->second;
    }
    std::erase_if(rest_, [](const Edge& edge) { return edge.weight <= 0; });
  }

  const bool cartesian_;
  const Thresholds& thresholds_;
  double total_ = 0;
  std::vector<Edge> rest_;
};

}  // namespace

std::vector<FoundPattern> search_patterns(std::vector<Edge> edges, bool cartesian,
                                          const Thresholds& thresholds) {
  return PatternSearch(cartesian, thresholds).run(std::move(edges));
}

}  // namespace fathom::analysis
