// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/pattern_traffic.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "profile/pair_sums.h"

namespace fathom::analysis {
namespace {

// By bytes or by messages; 0 for messages to oneself.
double weight_of(const profile::PairCount& pair, bool by_bytes) {
  if (pair.source == pair.destination) return 0;
  return static_cast<double>(by_bytes ? pair.bytes : pair.messages);
}

// Gives all-to-all in the lines of a grid its extents and its final kind.
void name_lines(const ClassTraffic& traffic, Pattern& pattern) {
  std::map<std::int64_t, std::int64_t> place;
  for (const std::int64_t rank : pattern.ranks) place.emplace(rank, std::ssize(place));
  const auto on_grid = [&](std::int64_t a, std::int64_t b) {
    return place.contains(a) && place.contains(b);
  };
  if (pattern.kind == "rows-and-columns") {
    const std::int64_t rows = pattern.extents[0], columns = pattern.extents[1];
    const auto in_row = [&](std::int64_t a, std::int64_t b) {
      return on_grid(a, b) && place.at(a) / columns == place.at(b) / columns;
    };
    const auto in_column = [&](std::int64_t a, std::int64_t b) {
      return on_grid(a, b) && place.at(a) % columns == place.at(b) % columns;
    };
    std::tie(pattern.kind, pattern.alternative) = [&] {
      const GridKind found =
          kind_of_grid(rows, columns, volume_of({&traffic}, pairs_in(rows, columns), in_row),
                       volume_of({&traffic}, pairs_in(columns, rows), in_column), true);
      return std::pair(found.kind, found.alternative);
    }();
    pattern.periodic.clear();
    pattern.along = "rows and columns";
    return;
  }
  const auto groups = static_cast<std::int64_t>(pattern.groups), ranks = std::ssize(pattern.ranks);
  if (pattern.kind != "all-to-all" || groups < 2 || ranks % groups != 0) return;
  const std::int64_t length = ranks / groups;
  bool rows = true, columns = true;
  for (const RankPair& pair : pattern.pairs) {
    const std::int64_t a = place.at(pair.source), b = place.at(pair.destination);
    rows = rows && a / length == b / length;
    columns = columns && a % groups == b % groups;
  }
  if (!rows && !columns) return;
  pattern.along = rows ? "rows" : "columns";
  pattern.extents = rows ? std::vector{groups, length} : std::vector{length, groups};
}

}  // namespace

double weight_of(const ClassTraffic& traffic, bool by_bytes) {
  double sum = 0;
  for (const profile::PairCount& pair : traffic.pairs) sum += weight_of(pair, by_bytes);
  return sum;
}

std::vector<Edge> edges_of(const ClassTraffic& traffic, bool by_bytes) {
  std::vector<Edge> edges;
  for (const profile::PairCount& pair : traffic.pairs) {
    const double weight = weight_of(pair, by_bytes);
    if (weight == 0) continue;
    edges.push_back({static_cast<std::uint32_t>(pair.source),
                     static_cast<std::uint32_t>(pair.destination), 0, weight});
  }
  return edges;
}

std::vector<RankPair> heaviest(std::vector<Edge> edges) {
  const std::size_t kept = std::min(edges.size(), kMostListed);
  std::partial_sort(edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(kept), edges.end(),
                    [](const Edge& a, const Edge& b) {
                      if (a.weight != b.weight) return a.weight > b.weight;
                      return std::pair(a.source, a.destination) <
                             std::pair(b.source, b.destination);
                    });
  std::vector<RankPair> pairs;
  for (std::size_t i = 0; i < kept; ++i) pairs.push_back({edges[i].source, edges[i].destination});
  return pairs;
}

double pairs_in(std::int64_t lines, std::int64_t length) {
  return static_cast<double>(lines) * static_cast<double>(length) *
         (static_cast<double>(length) - 1);
}

Pattern pattern_of(const FoundPattern& found, const ClassTraffic& traffic, double class_weight) {
  Pattern pattern;
  pattern.kind = found.shape.kind;
  pattern.class_name = traffic.class_name;
  pattern.hidden = traffic.hidden;
  pattern.extents = found.shape.extents;
  pattern.periodic = found.shape.periodic;
  pattern.corners = found.shape.corners;
  pattern.rank_order = found.shape.rank_order;
  pattern.alternative = found.shape.alternative;
  pattern.groups = found.groups;
  pattern.hub = found.shape.hub;
  pattern.ranks.assign(found.ranks.begin(), found.ranks.end());
  pattern.pairs = heaviest(found.edges);
  pattern.pair_count = found.edges.size();
  pattern.share = found.explained / class_weight;
  pattern.strength = pattern.share * found.present;
  pattern.communicators.assign(traffic.communicators.begin(), traffic.communicators.end());
  name_lines(traffic, pattern);
  return pattern;
}

FoundPattern joined(std::vector<FoundPattern> all) {
  FoundPattern sum = std::move(all[0]);
  const bool same_ranks = std::all_of(all.begin() + 1, all.end(), [&](const FoundPattern& other) {
    return other.ranks == sum.ranks;
  });
  for (auto other = all.begin() + 1; other != all.end(); ++other) {
    sum.groups = same_ranks ? std::max(sum.groups, other->groups) : sum.groups + other->groups;
    if (!same_ranks) sum.ranks.insert(sum.ranks.end(), other->ranks.begin(), other->ranks.end());
    sum.edges.insert(sum.edges.end(), other->edges.begin(), other->edges.end());
    sum.explained += other->explained;
    sum.present = std::min(sum.present, other->present);
    sum.shape.rank_order = sum.shape.rank_order && other->shape.rank_order;
    // Groups with different hubs have none in common.
    if (sum.shape.hub != other->shape.hub) sum.shape.hub = profile::kNone;
  }
  std::sort(sum.ranks.begin(), sum.ranks.end());
  sum.ranks.erase(std::unique(sum.ranks.begin(), sum.ranks.end()), sum.ranks.end());
  return sum;
}

ClassTraffic sum_of(const std::vector<const ClassTraffic*>& parts) {
  ClassTraffic sum;
  profile::PairSums pairs;
  for (const ClassTraffic* part : parts) {
    sum.class_name = part->class_name;
    sum.hidden = part->hidden;
    sum.communicators.insert(part->communicators.begin(), part->communicators.end());
    sum.bytes += part->bytes;
    sum.messages += part->messages;
    for (const profile::PairCount& pair : part->pairs) pairs.add(pair);
  }
  sum.pairs = pairs.take();
  return sum;
}

}  // namespace fathom::analysis
