// SPDX-License-Identifier: BSD-3-Clause
#include "cli/language/nearest.h"

#include <algorithm>
#include <numeric>

namespace fathom::cli {

std::size_t edit_distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);  // distances of one[0, i) to each other[0, j)
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t replaced = diagonal + (one[i] != other[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
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

}  // namespace fathom::cli
