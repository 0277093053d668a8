// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/pattern_shapes.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace fathom::analysis {
namespace {

constexpr int kHandOver = 31;  // the round of a butterfly's surplus ranks

std::vector<std::uint32_t> all_edges(const PatternGraph& graph) {
  std::vector<std::uint32_t> edges(graph.edges().size());
  std::iota(edges.begin(), edges.end(), 0u);
  return edges;
}

// The edges for which round_of(source, destination) is a round from 0 to 31, and their number as a
// fraction of `expected` ordered pairs. A pair with less than an eighth of the mean of its round
// does not count as present.
template <typename RoundOf>
Match edges_where(const PatternGraph& graph, double expected, RoundOf round_of) {
  Match match;
  double weights[32] = {}, pairs[32] = {};
  for (std::uint32_t i = 0; i < graph.edges().size(); ++i) {
    const Edge& edge = graph.edges()[i];
    const int round = round_of(edge.source, edge.destination);
    if (round < 0) continue;
    match.edges.push_back(i);
    weights[round] += edge.weight;
    ++pairs[round];
  }
  double present = 0;
  for (const std::uint32_t i : match.edges) {
    const Edge& edge = graph.edges()[i];
    const int round = round_of(edge.source, edge.destination);
    present += edge.weight * kFaint >= weights[round] / pairs[round];
  }
  match.present = std::min(1.0, present / expected);
  return match;
}

// k if the number is 2^k, else -1.
int power_of_two(std::uint32_t number) {
  return std::has_single_bit(number) ? std::countr_zero(number) : -1;
}

std::optional<Match> if_present(Match match, const char* kind, const Thresholds& thresholds) {
  if (match.present < thresholds.pattern_present) return {};
  match.kind = kind;
  return match;
}

std::uint32_t busiest_node(const PatternGraph& graph) {
  std::vector<double> touched(graph.size(), 0);
  for (const Edge& edge : graph.edges()) {
    touched[edge.source] += edge.weight;
    touched[edge.destination] += edge.weight;
  }
  return static_cast<std::uint32_t>(std::max_element(touched.begin(), touched.end()) -
                                    touched.begin());
}

}  // namespace

std::optional<Match> all_to_all(const PatternGraph& graph, const Thresholds& thresholds) {
  if (graph.size() < 3) return {};
  const double talked = static_cast<double>(graph.edges().size()) / graph.possible_pairs();
  if (talked < thresholds.pattern_present) return {};
  const double median = graph.quantile(0.5), low = graph.quantile(0.1);
  Match match;
  match.edges = all_edges(graph);
  match.present = talked;
  match.level = low * kFaint >= median ? median : low;
  if (graph.size() == 3) match.alternative = "a periodic halo exchange on 3 ranks";
  return if_present(std::move(match), "all-to-all", thresholds);
}

std::optional<Match> rows_and_columns(const PatternGraph& graph, const Thresholds& thresholds) {
  const std::uint32_t size = graph.size();
  for (std::uint32_t columns = 2; columns <= size / 2; ++columns) {
    const std::uint32_t rows = size / columns;
    const double expected =
        static_cast<double>(size) * (static_cast<double>(rows) + static_cast<double>(columns) - 2);
    if (size % columns != 0 || std::max(rows, columns) < 4 ||
        static_cast<double>(graph.edges().size()) < thresholds.pattern_present * expected)
      continue;
    Match match = edges_where(graph, expected, [&](std::uint32_t a, std::uint32_t b) {
      return a / columns == b / columns ? 0 : a % columns == b % columns ? 1 : -1;
    });
    if (match.present < thresholds.pattern_present) continue;
    match.extents = {rows, columns};
    match.periodic = {false, false};
    return if_present(std::move(match), "rows-and-columns", thresholds);
  }
  return {};
}

std::optional<Match> star(const PatternGraph& graph, const Thresholds& thresholds) {
  if (graph.size() < 3) return {};
  const std::uint32_t hub = busiest_node(graph);
  std::vector<int> ways(graph.size(), 0);  // bit 0: from the hub, bit 1: to it
  Match match;
  for (std::uint32_t i = 0; i < graph.edges().size(); ++i) {
    const Edge& edge = graph.edges()[i];
    if (edge.source != hub && edge.destination != hub) continue;
    match.edges.push_back(i);
    ways[edge.source == hub ? edge.destination : edge.source] |= edge.source == hub ? 1 : 2;
  }
  const auto with_hub = std::count_if(ways.begin(), ways.end(), [](int way) { return way != 0; });
  const auto both = std::count(ways.begin(), ways.end(), 3);
  match.hub = hub;
  match.present = static_cast<double>(with_hub) / (static_cast<double>(graph.size()) - 1);
  return if_present(std::move(match), 2 * both > with_hub ? "master-worker" : "star", thresholds);
}

std::optional<Match> butterfly(const PatternGraph& graph, const Thresholds& thresholds) {
  const std::uint32_t size = graph.size();
  if (size < 4) return {};
  const std::uint32_t core = std::bit_floor(size), extra = size - core;
  const auto is_idle = [&](std::uint32_t rank) { return rank < 2 * extra && rank % 2 == 0; };
  const auto number = [&](std::uint32_t rank) {
    return rank < 2 * extra ? rank / 2 : rank - extra;
  };
  const double rounds = std::bit_width(core) - 1;
  Match match =
      edges_where(graph, core * rounds + 2.0 * extra, [&](std::uint32_t a, std::uint32_t b) {
        if (is_idle(a) || is_idle(b))
          return (a ^ b) == 1 && std::max(a, b) < 2 * extra ? kHandOver : -1;
        return power_of_two(number(a) ^ number(b));
      });
  if (size == 4 || size == 8) {
    match.alternative =
        size == 4 ? "a halo exchange on a 2 x 2 grid" : "a halo exchange on a 2 x 2 x 2 grid";
  }
  return if_present(std::move(match), "butterfly", thresholds);
}

std::optional<Match> dissemination(const PatternGraph& graph, const Thresholds& thresholds) {
  const std::uint32_t size = graph.size();
  if (size < 5) return {};
  const int rounds = std::bit_width(size - 1);
  Match match = edges_where(
      graph, static_cast<double>(size) * rounds,
      [&](std::uint32_t a, std::uint32_t b) { return power_of_two((b + size - a) % size); });
  return if_present(std::move(match), "dissemination", thresholds);
}

std::optional<Match> ping_pong(const PatternGraph& graph, const Thresholds& thresholds) {
  if (graph.size() != 2) return {};
  Match match;
  match.edges = all_edges(graph);
  match.present = static_cast<double>(match.edges.size()) / 2;
  return if_present(std::move(match), "ping-pong", thresholds);
}

std::optional<Match> tree(const PatternGraph& graph, const Thresholds& thresholds) {
  if (graph.size() < 4) return {};
  std::vector<std::uint32_t> peers(graph.size(), 0), in(graph.size(), 0), out(graph.size(), 0);
  std::uint64_t lines = 0;
  for (const Edge& edge : graph.edges()) {
    ++out[edge.source];
    ++in[edge.destination];
    if (edge.source > edge.destination && graph.has(edge.destination, edge.source)) continue;
    ++lines;
    ++peers[edge.source];
    ++peers[edge.destination];
  }
  const std::uint32_t most = *std::max_element(peers.begin(), peers.end());
  if (lines != graph.size() - 1 || most < 3 || most == graph.size() - 1) return {};
  Match match;
  match.edges = all_edges(graph);
  match.present = 1;
  for (const auto& side : {in, out}) {
    if (std::count(side.begin(), side.end(), 0u) == 1) {
      match.hub = std::find(side.begin(), side.end(), 0u) - side.begin();
    }
  }
  return if_present(std::move(match), "tree", thresholds);
}

}  // namespace fathom::analysis
