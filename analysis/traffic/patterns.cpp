// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/patterns.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "analysis/traffic/class_traffic.h"
#include "analysis/traffic/histograms.h"
#include "analysis/traffic/pattern_search.h"
#include "analysis/traffic/percent.h"
#include "profile/pair_sums.h"
#include "profile/summary.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostCommunicators = 16;

std::string grid_text(const std::vector<std::int64_t>& extents) {
  std::string text;
  for (const std::int64_t extent : extents)
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

std::string periodic_text(const std::vector<bool>& periodic) {
  const auto count = std::count(periodic.begin(), periodic.end(), true);
  if (count == 0) return "not periodic";
  if (count == std::ssize(periodic)) return "periodic";
  std::string text;
  for (std::size_t d = 0; d < periodic.size(); ++d) {
    if (periodic[d])
      text += (text.empty() ? "periodic in dimension " : " and ") + std::to_string(d);
  }
  return text;
}

std::string shape_text(const Pattern& pattern) {
  const std::string hub = pattern.hub == profile::kNone ? "" : " " + std::to_string(pattern.hub);
  if (!pattern.extents.empty()) {
    const bool two_way = pattern.kind == "halo";
    std::string text = two_way ? "halo exchange with the nearest neighbours"
                       : pattern.kind == "nearest-neighbour"
                           ? "one-way traffic to the nearest neighbours"
                           : "each rank sends to the next";
    text += " on a " + std::string(pattern.extents.size() == 1 ? "line of " : "grid of ") +
            grid_text(pattern.extents) + " ranks, " + periodic_text(pattern.periodic);
    if (pattern.corners) text += ", diagonal neighbours too";
    return pattern.rank_order ? text : text + "; the ranks are not in row-major order";
  }
  if (pattern.kind == "all-to-all") return "every rank sends to every other";
  if (pattern.kind == "butterfly")
    return "ranks exchange in pairs whose distances are powers of two";
  if (pattern.kind == "dissemination") return "each rank sends to ranks ahead by powers of two";
  if (pattern.kind == "master-worker") return "rank" + hub + " exchanges with every other";
  if (pattern.kind == "star") return "all messages start or end at rank" + hub;
  if (pattern.kind == "tree")
    return "messages run along a tree" + (hub.empty() ? "" : " rooted at rank" + hub);
  return "ranks exchange in pairs";
}

std::string describe(const Pattern& pattern) {
  std::string text = shape_text(pattern);
  if (pattern.groups > 1) text += ", in " + std::to_string(pattern.groups) + " groups";
  text += "; " + percent(pattern.share) + " of the class's traffic";
  return pattern.alternative.empty()
             ? text
             : text + " (the same counts could be " + pattern.alternative + ")";
}

std::vector<Edge> edges_of(const ClassTraffic& traffic) {
  const bool by_bytes = traffic.bytes > 0;
  std::vector<Edge> edges;
  for (const profile::PairCount& pair : traffic.pairs) {
    const std::uint64_t weight = by_bytes ? pair.bytes : pair.messages;
    if (pair.source == pair.destination || weight == 0) continue;
    edges.push_back({static_cast<std::uint32_t>(pair.source),
                     static_cast<std::uint32_t>(pair.destination), 0, static_cast<double>(weight)});
  }
  return edges;
}

double weight_of(const std::vector<Edge>& edges) {
  double sum = 0;
  for (const Edge& edge : edges) sum += edge.weight;
  return sum;
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
  return pattern;
}

class PatternFinder {
 public:
  PatternFinder(const profile::Profile& profile, const Thresholds& thresholds)
      : profile_(profile), thresholds_(thresholds), classes_(traffic_by_class(profile)) {
    for (const ClassTraffic& traffic : classes_) {
      all_bytes_ += static_cast<double>(traffic.bytes);
      all_messages_ += static_cast<double>(traffic.messages);
    }
  }

  std::vector<Pattern> find() {
    for (const ClassTraffic& traffic : classes_) {
      if (traffic.class_name == profile::kLibrary || traffic.class_name == profile::kIo) continue;
      if (search(traffic, profile::kNone) == 0 && traffic.communicators.size() > 1)
        by_communicator(traffic);
      rooted(traffic);
    }
    density();
    small_messages();
    std::stable_sort(found_.begin(), found_.end(), [](const Pattern& a, const Pattern& b) {
      return std::tuple(a.class_name.empty(), -a.of_all) <
             std::tuple(b.class_name.empty(), -b.of_all);
    });
    return std::move(found_);
  }

 private:
  // Whether the program arranged its ranks in a grid and these messages follow it: its own
  // messages, one-sided ones, and those of a neighbourhood collective. Other collectives run their
  // own algorithms on a Cartesian communicator too.
  bool cartesian(const ClassTraffic& traffic) const {
    const bool by_neighbours = mpi::is_neighborhood(mpi::meaning_of(traffic.class_name).collective);
    const bool one_sided = traffic.class_name == profile::kOneSided;
    if (traffic.hidden && !by_neighbours && !one_sided) return false;
    return std::any_of(profile_.communicators.begin(), profile_.communicators.end(),
                       [](const profile::Communicator& entry) {
                         return mpi::meaning_of(entry.made_by).cartesian;
                       });
  }

  double part_of_all(const ClassTraffic& traffic) const {
    if (all_bytes_ > 0) return static_cast<double>(traffic.bytes) / all_bytes_;
    return all_messages_ > 0 ? static_cast<double>(traffic.messages) / all_messages_ : 0;
  }

  std::size_t search(const ClassTraffic& traffic, std::int64_t communicator) {
    std::vector<Edge> edges = edges_of(traffic);
    const double weight = weight_of(edges);
    const auto found = search_patterns(std::move(edges), cartesian(traffic), thresholds_);
    for (const FoundPattern& entry : found) {
      Pattern pattern = pattern_of(entry, traffic, weight);
      pattern.communicator = communicator;
      pattern.of_all = pattern.share * part_of_all(traffic);
      pattern.description = describe(pattern);
      found_.push_back(std::move(pattern));
    }
    return found.size();
  }

  void by_communicator(const ClassTraffic& whole) {
    auto parts = traffic_by_communicator(profile_, whole.class_name, whole.hidden);
    parts.resize(std::min(parts.size(), kMostCommunicators));
    for (const ClassTraffic& part : parts) search(part, *part.communicators.begin());
  }

  // Rooted collectives that mostly have the same root.
  void rooted(const ClassTraffic& traffic) {
    if (!is_rooted_collective(traffic.class_name)) return;
    const RootShare root = root_share(traffic);
    if (root.ranks < thresholds_.few_ranks || root.share < 0.5) return;
    Pattern pattern;
    pattern.kind = "rooted-concentration";
    pattern.class_name = traffic.class_name;
    pattern.hidden = traffic.hidden;
    pattern.hub = root.rank;
    pattern.ranks = {root.rank};
    pattern.share = pattern.strength = root.share;
    pattern.of_all = root.share * part_of_all(traffic);
    pattern.description =
        "rank " + std::to_string(root.rank) + " is the root of " + percent(root.share) + " of it";
    found_.push_back(std::move(pattern));
  }

  void density() {
    const std::int64_t ranks = profile::rank_count(profile_);
    const std::vector<profile::PairCount> pairs = profile::sum_pairs(profile_);
    const double density = profile::density(pairs, ranks);
    if (pairs.empty() || static_cast<double>(ranks) < thresholds_.density_ranks) return;
    const bool explained = std::any_of(found_.begin(), found_.end(), [&](const Pattern& pattern) {
      return pattern.kind == "all-to-all" && std::ssize(pattern.ranks) == ranks;
    });
    Pattern pattern;
    pattern.pair_count = pairs.size();
    pattern.share = pattern.of_all = 1;
    if (density >= thresholds_.dense_pairs && !explained) {
      pattern.kind = "dense";
      pattern.strength = density;
    } else if (density <= thresholds_.sparse_pairs) {
      pattern.kind = "sparse";
      pattern.strength = 1 - density;
    } else {
      return;
    }
    pattern.description = percent(density) + " of the pairs of different ranks communicate";
    found_.push_back(std::move(pattern));
  }

  void small_messages() {
    const SmallMessages small =
        analysis::small_messages(histogram_of_all(profile_), thresholds_.small_message_bytes);
    if (static_cast<double>(small.of_messages) < thresholds_.few_messages) return;
    const double share =
        static_cast<double>(small.messages) / static_cast<double>(small.of_messages);
    if (share < 0.5) return;
    Pattern pattern;
    pattern.kind = "small-message-dominated";
    pattern.share = pattern.strength = share;
    pattern.of_all = small.of_bytes > 0 ? small.bytes / small.of_bytes : 1;
    pattern.description =
        percent(share) + " of the messages are smaller than " +
        std::to_string(static_cast<std::uint64_t>(thresholds_.small_message_bytes)) + " B";
    found_.push_back(std::move(pattern));
  }

  const profile::Profile& profile_;
  const Thresholds& thresholds_;
  std::vector<ClassTraffic> classes_;
  double all_bytes_ = 0, all_messages_ = 0;
  std::vector<Pattern> found_;
};

void lay_out(const std::vector<Pattern>& found, Table& table) {
  using Numbers = std::vector<std::int64_t>;
  add_column(table, "kind", found, [](const Pattern& p) { return p.kind; });
  add_column(table, "class", found, [](const Pattern& p) { return p.class_name; });
  add_column(table, "hidden", found, [](const Pattern& p) { return std::int64_t{p.hidden}; });
  add_column(table, "communicator", found, [](const Pattern& p) { return p.communicator; });
  add_column(table, "strength", found, [](const Pattern& p) { return p.strength; });
  add_column(table, "share", found, [](const Pattern& p) { return p.share; });
  add_column(table, "share_of_all", found, [](const Pattern& p) { return p.of_all; });
  add_column(table, "extents", found, [](const Pattern& p) { return p.extents; });
  add_column(table, "periodic", found,
             [](const Pattern& p) { return Numbers(p.periodic.begin(), p.periodic.end()); });
  add_column(table, "corners", found, [](const Pattern& p) { return std::int64_t{p.corners}; });
  add_column(table, "rank_order", found,
             [](const Pattern& p) { return std::int64_t{p.rank_order}; });
  add_column(table, "groups", found, [](const Pattern& p) { return p.groups; });
  add_column(table, "hub", found, [](const Pattern& p) { return p.hub; });
  add_column(table, "ranks", found, [](const Pattern& p) { return p.ranks; });
  add_column(table, "pair_count", found, [](const Pattern& p) { return p.pair_count; });
  for (const auto& [name, end] : {std::pair("pair_sources", &RankPair::source),
                                  std::pair("pair_destinations", &RankPair::destination)}) {
    add_column(table, name, found, [end = end](const Pattern& p) {
      Numbers numbers;
      for (const RankPair& pair : p.pairs) numbers.push_back(pair.*end);
      return numbers;
    });
  }
  add_column(table, "alternative", found, [](const Pattern& p) { return p.alternative; });
  add_column(table, "description", found, [](const Pattern& p) { return p.description; });
}

}  // namespace

std::vector<Pattern> find_patterns(const profile::Profile& profile, const Thresholds& thresholds) {
  return PatternFinder(profile, thresholds).find();
}

base::Result<Outcome> patterns(const Input& input) {
  Outcome outcome;
  lay_out(find_patterns(*input.profile, input.thresholds), outcome.section.table("patterns"));
  return outcome;
}

}  // namespace fathom::analysis
