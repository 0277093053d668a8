// SPDX-License-Identifier: BSD-3-Clause
// The tree along which rows are gathered, for worlds of many sizes.
#include <doctest/doctest.h>

#include "profiler/openmpi/knomial_tree.h"

namespace fathom::profiler {
namespace {

constexpr int kSizes[] = {1, 2, 3, 15, 16, 17, 31, 32, 33, 255, 256, 257, 300, 4096, 5000};

TEST_CASE("every process but rank 0 is below exactly the one that it takes for its parent") {
  for (const int size : kSizes) {
    std::vector<int> above(static_cast<std::size_t>(size), -1);
    for (int rank = 0; rank < size; ++rank) {
      for (const int child : knomial_neighbors(rank, size).second) {
        CHECK(above[static_cast<std::size_t>(child)] == -1);
        above[static_cast<std::size_t>(child)] = rank;
      }
    }
    for (int rank = 0; rank < size; ++rank)
      CHECK(knomial_neighbors(rank, size).first == above[static_cast<std::size_t>(rank)]);
  }
}

TEST_CASE("the processes at and below a child are those up to the next child") {
  for (const int size : kSizes) {
    for (int rank = 1; rank < size; ++rank) {
      const int parent = knomial_neighbors(rank, size).first;
      for (const int sibling : knomial_neighbors(parent, size).second) {
        if (sibling <= rank) continue;
        for (const int child : knomial_neighbors(rank, size).second) CHECK(child < sibling);
        break;
      }
    }
  }
}

TEST_CASE("256 ranks have one level, more have few") {
  for (int rank = 1; rank < 256; ++rank) CHECK(knomial_neighbors(rank, 256).first == 0);
  CHECK(knomial_neighbors(0, 4096).second.size() == 45);
  for (int rank = 1; rank < 4096; ++rank) {
    int levels = 0;
    for (int above = rank; above != 0; above = knomial_neighbors(above, 4096).first) ++levels;
    CHECK(levels <= 3);
  }
}

}  // namespace
}  // namespace fathom::profiler
