// SPDX-License-Identifier: BSD-3-Clause
// The tree along which rows are gathered, for worlds of many sizes.
#include <doctest/doctest.h>

#include "profiler/openmpi/knomial_tree.h"

namespace fathom::profiler {
namespace {

// Sizes, and the bases of their trees.
std::vector<std::pair<int, int>> worlds() {
  std::vector<std::pair<int, int>> all;
  for (const int size : {1, 2, 3, 15, 16, 17, 31, 32, 33, 255, 256, 257, 300, 4096, 5000})
    for (const int base : {kTreeBase, gathering_base(size)}) all.emplace_back(size, base);
  return all;
}

TEST_CASE("every process but rank 0 is below exactly the one that it takes for its parent") {
  for (const auto& [size, base] : worlds()) {
    std::vector<int> above(static_cast<std::size_t>(size), -1);
    for (int rank = 0; rank < size; ++rank) {
      for (const int child : knomial_neighbors(rank, size, base).second) {
        CHECK(above[static_cast<std::size_t>(child)] == -1);
        above[static_cast<std::size_t>(child)] = rank;
      }
    }
    for (int rank = 0; rank < size; ++rank)
      CHECK(knomial_neighbors(rank, size, base).first == above[static_cast<std::size_t>(rank)]);
  }
}

TEST_CASE("the processes at and below a child are those up to the next child") {
  for (const auto& [size, base] : worlds()) {
    for (int rank = 1; rank < size; ++rank) {
      const int parent = knomial_neighbors(rank, size, base).first;
      for (const int sibling : knomial_neighbors(parent, size, base).second) {
        if (sibling <= rank) continue;
        for (const int child : knomial_neighbors(rank, size, base).second) CHECK(child < sibling);
        break;
      }
    }
  }
}

TEST_CASE("256 ranks have one level, more have few") {
  for (int rank = 1; rank < 256; ++rank)
    CHECK(knomial_neighbors(rank, 256, gathering_base(256)).first == 0);
  CHECK(knomial_neighbors(0, 4096, gathering_base(4096)).second.size() == 45);
  for (int rank = 1; rank < 4096; ++rank) {
    int levels = 0;
    for (int above = rank; above != 0; above = knomial_neighbors(above, 4096, kTreeBase).first)
      ++levels;
    CHECK(levels <= 3);
  }
}

}  // namespace
}  // namespace fathom::profiler
