// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/grid_patterns.h"

#include <algorithm>
#include <cmath>

#include "analysis/traffic/pattern_match.h"

namespace fathom::analysis {
namespace {

constexpr double kAlike = 0.1;  // difference of two amounts that count as equal

bool alike(double a, double b) { return std::abs(a - b) <= kAlike * std::max(a, b); }

}  // namespace

GridKind kind_of_grid(std::int64_t rows, std::int64_t columns, PairVolume in_row,
                      PairVolume in_column, bool sends) {
  const auto per_row = static_cast<double>(columns), per_column = static_cast<double>(rows);
  const bool all_data = alike(per_row * in_row.bytes, per_column * in_column.bytes);
  if (!sends) return {all_data ? "pencil-transpose" : "all-to-all", ""};
  const bool equal = alike(in_row.messages, in_column.messages);
  if (rows == columns && equal && all_data)
    return {"all-to-all", "transposes of pencils, or SUMMA's broadcasts sent one by one"};
  if (equal && all_data) return {"pencil-transpose", ""};
  if (!equal && alike(per_row * in_row.messages, per_column * in_column.messages))
    return {"summa", ""};
  return {"all-to-all", ""};
}

bool roots_take_turns(const ClassTraffic& broadcasts) {
  const RootShare root = root_share(broadcasts);
  return root.ranks >= 2 && root.share < (1 + 1 / root.ranks) / 2;
}

double pairs_present(const ClassTraffic& traffic, std::int64_t ranks) {
  const auto weight = [&](const profile::PairCount& pair) {
    if (pair.source == pair.destination) return 0.0;
    return static_cast<double>(traffic.bytes > 0 ? pair.bytes : pair.messages);
  };
  const double possible = static_cast<double>(ranks) * (static_cast<double>(ranks) - 1);
  double sum = 0;
  for (const profile::PairCount& pair : traffic.pairs) sum += weight(pair);
  const auto strong = std::count_if(
      traffic.pairs.begin(), traffic.pairs.end(), [&](const profile::PairCount& pair) {
        return weight(pair) > 0 && weight(pair) * kFaint >= sum / possible;
      });
  return static_cast<double>(strong) / possible;
}

}  // namespace fathom::analysis
