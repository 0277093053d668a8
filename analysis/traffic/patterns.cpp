// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/patterns.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/traffic/class_traffic.h"
#include "analysis/traffic/communicator_grid.h"
#include "analysis/traffic/grid_patterns.h"
#include "analysis/traffic/pattern_search.h"
#include "analysis/traffic/pattern_text.h"
#include "analysis/traffic/pattern_traffic.h"
#include "analysis/traffic/whole_patterns.h"
#include "base/order/sort_stably.h"

namespace fathom::analysis {
namespace {

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
      if (auto rooted = rooted_concentration(traffic, thresholds_)) {
        rooted->of_all = rooted->share * part_of_all(traffic);
        found_.push_back(std::move(*rooted));
      }
    }
    if (auto dense = density_pattern(profile_, thresholds_, found_))
      found_.push_back(std::move(*dense));
    if (auto small = small_message_pattern(profile_, thresholds_))
      found_.push_back(std::move(*small));
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

  // Whether the class is used in the same way on all communicators of the grid: all-to-alls; broadcasts with
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
