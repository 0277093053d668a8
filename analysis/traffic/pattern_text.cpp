// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/traffic/pattern_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/traffic/percent.h"
#include "base/text.h"

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

}  // namespace

std::string describe(const Pattern& pattern, bool names_communicators) {
  std::string text = shape_text(pattern);
  if (pattern.groups > 1 && pattern.along.empty())
    text += ", in " + std::to_string(pattern.groups) + " groups";
  // A program may make hundreds of them, which nobody wants to read in a sentence.
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

}  // namespace fathom::analysis
