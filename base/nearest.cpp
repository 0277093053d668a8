// SPDX-License-Identifier: BSD-3-Clause
#include "base/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fathom::base {

std::size_t edit_distance(std::string_view one, std::string_view other) {
  // Distances of one[0, i) to each other[0, j), of one[0, i - 1), and of one[0, i - 2).
  std::vector<std::size_t> row(other.size() + 1), above, second_above;
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= one.size(); ++i) {
    second_above = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      row[j] =
          std::min({above[j - 1] + (one[i - 1] != other[j - 1]), row[j - 1] + 1, above[j] + 1});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        row[j] = std::min(row[j], second_above[j - 2] + 1);
    }
  }
  return row.back();
}

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  std::string best;
  const std::size_t dashes = std::min(word.find_first_not_of('-'), word.size());
  std::size_t least = std::max<std::size_t>(1, (word.size() - dashes) / 2) + 1;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(word, name);
    if (distance >= least) continue;
    least = distance;
    best = name;
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& names,
                       const std::string& otherwise) {
  const std::string meant = nearest(word, names);
  return meant.empty() ? otherwise : "; did you mean " + meant + "?";
}

}  // namespace fathom::base
