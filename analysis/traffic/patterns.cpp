// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/patterns.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "analysis/traffic/class_traffic.h"
#include "analysis/traffic/communicator_grid.h"
#include "analysis/traffic/grid_patterns.h"
#include "analysis/traffic/histograms.h"
#include "analysis/traffic/pattern_search.h"
#include "analysis/traffic/percent.h"
#include "base/order/sort_stably.h"
#include "base/text.h"
#include "profile/pair_sums.h"
#include "profile/summary.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kMostCommunicatorsNamed = 6;  // communicators in a description

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

// "every rank sends to every other of its row, in a grid of 2 x 4 ranks"
std::string lines_text(const Pattern& pattern) {
  const std::string grid = " in a grid of " + grid_text(pattern.extents) + " ranks";
  if (pattern.kind == "summa")
    return "SUMMA: the ranks broadcast in turn along their rows and columns" + grid;
  if (pattern.kind == "pencil-transpose")
    return "transposes of pencils: every rank deals out its data in its row, and in its column," +
           grid;
  return "every rank sends to every other " +
         std::string(pattern.along == "rows"      ? "of its row"
                     : pattern.along == "columns" ? "of its column"
                                                  : "of its row and of its column") +
         grid;
}

std::string shape_text(const Pattern& pattern) {
  if (!pattern.along.empty()) return lines_text(pattern);
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

std::string describe(const Pattern& pattern, bool names_communicators) {
  std::string text = shape_text(pattern);
  if (pattern.groups > 1 && pattern.along.empty())
    text += ", in " + std::to_string(pattern.groups) + " groups";
  if (names_communicators) {
    text += pattern.communicators.size() > kMostCommunicatorsNamed
                ? ", on " + std::to_string(pattern.communicators.size()) + " communicators"
            : pattern.communicators.size() > 1
                ? ", on communicators " + base::joined(pattern.communicators)
                : ", on communicator " + base::joined(pattern.communicators);
  }
  text += "; " + percent(pattern.share) + " of the class's traffic";
  return pattern.alternative.empty()
             ? text
             : text + " (the same counts could be " + pattern.alternative + ")";
}

// By bytes or by messages; 0 for messages to oneself.
double weight_of(const profile::PairCount& pair, bool by_bytes) {
  if (pair.source == pair.destination) return 0;
  return static_cast<double>(by_bytes ? pair.bytes : pair.messages);
}

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

// The mean of `pairs` pairs: those for which in_line(source, destination) holds.
template <typename InLine>
PairVolume volume_of(const std::vector<const ClassTraffic*>& parts, double pairs, InLine in_line) {
  PairVolume volume;
  for (const ClassTraffic* part : parts) {
    for (const profile::PairCount& pair : part->pairs) {
      if (pair.source == pair.destination || !in_line(pair.source, pair.destination)) continue;
      volume.bytes += static_cast<double>(pair.bytes) / pairs;
      volume.messages += static_cast<double>(pair.messages) / pairs;
    }
  }
  return volume;
}

// Number of ordered pairs in `lines` lines.
double pairs_in(std::int64_t lines, std::int64_t length) {
  return static_cast<double>(lines) * static_cast<double>(length) *
         (static_cast<double>(length) - 1);
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

// The same pattern, found on several communicators.
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
    if (sum.shape.hub != other->shape.hub) sum.shape.hub = profile::kNone;
  }
  std::sort(sum.ranks.begin(), sum.ranks.end());
  sum.ranks.erase(std::unique(sum.ranks.begin(), sum.ranks.end()), sum.ranks.end());
  return sum;
}

// The traffic of a class on several communicators.
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

class PatternFinder {
 public:
  PatternFinder(const profile::Profile& profile, const Thresholds& thresholds)
      : profile_(profile),
        thresholds_(thresholds),
        classes_(traffic_by_class(profile)),
        grids_(communicator_grids(profile)) {
    for (const ClassTraffic& traffic : classes_) {
      all_bytes_ += static_cast<double>(traffic.bytes);
      all_messages_ += static_cast<double>(traffic.messages);
    }
  }

  std::vector<Pattern> find() {
    for (const ClassTraffic& traffic : classes_) {
      if (traffic.class_name == profile::kLibrary || traffic.class_name == profile::kIo) continue;
      of_class(traffic);
      rooted(traffic);
    }
    density();
    small_messages();
    base::sort_stably(found_, [](const Pattern& a, const Pattern& b) {
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

  using Parts = std::map<std::int64_t, ClassTraffic>;  // of one class, by communicator

  void of_class(const ClassTraffic& whole) {
    by_bytes_ = whole.bytes > 0;
    class_weight_ = weight_of(whole, by_bytes_);
    if (whole.communicators.size() == 1) return search(whole, whole);
    Parts parts;
    for (ClassTraffic& part : traffic_by_communicator(profile_, whole.class_name, whole.hidden)) {
      const std::int64_t communicator = *part.communicators.begin();
      parts[communicator] = std::move(part);
    }
    in_lines(whole, parts);
    on_communicators(whole, parts);
    std::vector<const ClassTraffic*> rest;
    for (const auto& [communicator, part] : parts) rest.push_back(&part);
    if (!rest.empty()) search(whole, sum_of(rest));
  }

  void search(const ClassTraffic& whole, const ClassTraffic& traffic) {
    for (const FoundPattern& entry : patterns_in(traffic)) {
      if (explains_enough(entry.explained)) add(pattern_of(entry, traffic, class_weight_), whole);
    }
  }

  std::vector<FoundPattern> patterns_in(const ClassTraffic& traffic) const {
    return search_patterns(edges_of(traffic, by_bytes_), cartesian(traffic), thresholds_);
  }

  bool explains_enough(double weight) const {
    return weight >= thresholds_.pattern_share * class_weight_;
  }

  void add(Pattern pattern, const ClassTraffic& whole) {
    pattern.of_all = pattern.share * part_of_all(whole);
    pattern.description = describe(pattern, whole.communicators.size() > 1);
    found_.push_back(std::move(pattern));
  }

  // The same pattern on several communicators is one; rows are kept apart from columns.
  void on_communicators(const ClassTraffic& whole, Parts& parts) {
    std::map<std::int64_t, std::size_t> grid_of;
    for (std::size_t i = 0; i < grids_.size(); ++i) {
      for (const std::int64_t communicator : grids_[i].communicators)
        grid_of.emplace(communicator, i + 1);
    }
    using Key = std::tuple<std::size_t, std::string, std::vector<std::int64_t>, std::vector<bool>,
                           bool, std::string>;
    struct Alike {
      std::vector<FoundPattern> found;
      std::vector<const ClassTraffic*> parts;
      double explained = 0;
    };
    std::map<Key, Alike> all;
    for (const auto& [communicator, part] : parts) {
      for (FoundPattern& found : patterns_in(part)) {
        const Match& shape = found.shape;
        const auto grid = grid_of.find(communicator);
        const std::string along = pattern_of(found, part, class_weight_).along;
        Alike& alike = all[{grid == grid_of.end() ? 0 : grid->second, shape.kind, shape.extents,
                            shape.periodic, shape.corners, along}];
        alike.explained += found.explained;
        alike.found.push_back(std::move(found));
        alike.parts.push_back(&part);
      }
    }
    std::set<std::int64_t> explained;
    for (auto& [key, alike] : all) {
      if (!explains_enough(alike.explained)) continue;
      const ClassTraffic traffic = sum_of(alike.parts);
      add(pattern_of(joined(std::move(alike.found)), traffic, class_weight_), whole);
      explained.insert(traffic.communicators.begin(), traffic.communicators.end());
    }
    for (const std::int64_t communicator : explained) parts.erase(communicator);
  }

  // What programs do on communicators for the rows and columns of a grid. Takes out the parts that
  // this explains.
  void in_lines(const ClassTraffic& whole, Parts& parts) {
    for (std::size_t i = 0; i < grids_.size(); ++i) {
      const CommunicatorGrid& grid = grids_[i];
      const CommunicatorGrid* other = nullptr;  // columns to these rows
      for (const CommunicatorGrid& columns : grids_) {
        if (grid.lines == GridLines::kRows && columns.lines == GridLines::kColumns &&
            columns.rows == grid.rows && columns.ranks == grid.ranks &&
            all_lines(whole, columns, parts))
          other = &columns;
      }
      if (!all_lines(whole, grid, parts)) continue;
      if (other && both_ways(whole, grid, *other, parts)) continue;
      if (!is_broadcast(whole)) one_way(whole, grid, parts);
    }
  }

  static bool is_broadcast(const ClassTraffic& traffic) {
    return mpi::meaning_of(traffic.class_name).collective == mpi::Collective::kBcast;
  }
  static bool is_alltoall(const ClassTraffic& traffic) {
    const mpi::Collective collective = mpi::meaning_of(traffic.class_name).collective;
    return collective == mpi::Collective::kAlltoall || collective == mpi::Collective::kAlltoallv ||
           collective == mpi::Collective::kAlltoallw;
  }

  // Whether the class is used alike on all communicators of the grid: all-to-alls; broadcasts with
  // different roots; sends between all pairs.
  bool all_lines(const ClassTraffic& whole, const CommunicatorGrid& grid,
                 const Parts& parts) const {
    const bool sends = !whole.hidden;
    if (!sends && !is_alltoall(whole) && !is_broadcast(whole)) return false;
    const std::int64_t length = grid.lines == GridLines::kRows ? grid.columns : grid.rows;
    return std::all_of(
        grid.communicators.begin(), grid.communicators.end(), [&](std::int64_t communicator) {
          const auto part = parts.find(communicator);
          if (part == parts.end()) return false;
          if (is_broadcast(whole)) return roots_take_turns(part->second);
          return !sends || pairs_present(part->second, length) >= thresholds_.pattern_present;
        });
  }

  bool both_ways(const ClassTraffic& whole, const CommunicatorGrid& rows,
                 const CommunicatorGrid& columns, Parts& parts) {
    std::vector<const ClassTraffic*> all = on_lines(rows, parts);
    const std::vector<const ClassTraffic*> in_columns = on_lines(columns, parts);
    GridKind kind{"summa", ""};
    if (!is_broadcast(whole)) {
      const auto any = [](std::int64_t, std::int64_t) { return true; };
      kind = kind_of_grid(
          rows.rows, rows.columns, volume_of(all, pairs_in(rows.rows, rows.columns), any),
          volume_of(in_columns, pairs_in(rows.columns, rows.rows), any), !whole.hidden);
    }
    all.insert(all.end(), in_columns.begin(), in_columns.end());
    return add_lines(whole, kind, "rows and columns", rows, all, parts);
  }

  void one_way(const ClassTraffic& whole, const CommunicatorGrid& grid, Parts& parts) {
    add_lines(whole, {"all-to-all", ""}, grid.lines == GridLines::kRows ? "rows" : "columns", grid,
              on_lines(grid, parts), parts);
  }

  static std::vector<const ClassTraffic*> on_lines(const CommunicatorGrid& grid,
                                                   const Parts& parts) {
    std::vector<const ClassTraffic*> lines;
    for (const std::int64_t communicator : grid.communicators)
      lines.push_back(&parts.at(communicator));
    return lines;
  }

  // Takes `lines` out of the parts. False if they explain too little.
  bool add_lines(const ClassTraffic& whole, const GridKind& kind, const char* along,
                 const CommunicatorGrid& grid, const std::vector<const ClassTraffic*>& lines,
                 Parts& parts) {
    double weight = 0;
    for (const ClassTraffic* line : lines) weight += weight_of(*line, by_bytes_);
    if (!explains_enough(weight)) return false;
    const ClassTraffic traffic = sum_of(lines);
    std::vector<Edge> edges = edges_of(traffic, by_bytes_);
    Pattern pattern;
    pattern.kind = kind.kind;
    pattern.alternative = kind.alternative;
    pattern.class_name = whole.class_name;
    pattern.hidden = whole.hidden;
    pattern.along = along;
    pattern.extents = {grid.rows, grid.columns};
    pattern.groups = traffic.communicators.size();
    pattern.communicators.assign(traffic.communicators.begin(), traffic.communicators.end());
    pattern.ranks = grid.ranks;
    std::sort(pattern.ranks.begin(), pattern.ranks.end());
    pattern.pair_count = edges.size();
    pattern.pairs = heaviest(std::move(edges));
    pattern.share = pattern.strength = weight / class_weight_;
    add(std::move(pattern), whole);
    for (const std::int64_t communicator : traffic.communicators) parts.erase(communicator);
    return true;
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
    pattern.communicators.assign(traffic.communicators.begin(), traffic.communicators.end());
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
  std::vector<CommunicatorGrid> grids_;
  double all_bytes_ = 0, all_messages_ = 0;
  bool by_bytes_ = true;     // whether the class being searched has any
  double class_weight_ = 0;  // its weight
  std::vector<Pattern> found_;
};

void lay_out(const std::vector<Pattern>& found, Table& table) {
  using Numbers = std::vector<std::int64_t>;
  add_column(table, "kind", found, [](const Pattern& p) { return p.kind; });
  add_column(table, "class", found, [](const Pattern& p) { return p.class_name; });
  add_column(table, "hidden", found, [](const Pattern& p) { return std::int64_t{p.hidden}; });
  add_column(table, "communicator", found, [](const Pattern& p) {
    return p.communicators.size() == 1 ? p.communicators[0] : profile::kNone;
  });
  add_column(table, "communicators", found, [](const Pattern& p) { return p.communicators; });
  add_column(table, "along", found, [](const Pattern& p) { return p.along; });
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
