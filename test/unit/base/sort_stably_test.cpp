// SPDX-License-Identifier: BSD-3-Clause
#include "base/order/sort_stably.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Entry {
  int key = 0;
  std::string name;
  bool operator==(const Entry&) const = default;
};

TEST_CASE("sorting once for each result gives std::stable_sort's order") {
  for (const int keys : {1, 3, 1000}) {
    std::vector<Entry> entries;
    unsigned seed = 7;
    for (int i = 0; i < 500; ++i) {
      seed = seed * 1664525u + 1013904223u;
      entries.push_back({static_cast<int>(seed >> 16U) % keys, std::to_string(i)});
    }
    std::vector<Entry> expected = entries;
    const auto before = [](const Entry& a, const Entry& b) { return a.key > b.key; };
    std::stable_sort(expected.begin(), expected.end(), before);
    fathom::base::sort_stably(entries, before);
    CHECK(entries == expected);
  }
}

TEST_CASE("an empty list and elements that only move are sorted") {
  std::vector<std::unique_ptr<int>> numbers;
  const auto before = [](const std::unique_ptr<int>& a, const std::unique_ptr<int>& b) {
    return *a < *b;
  };
  fathom::base::sort_stably(numbers, before);
  CHECK(numbers.empty());
  for (const int number : {3, 1, 2}) numbers.push_back(std::make_unique<int>(number));
  fathom::base::sort_stably(numbers, before);
  CHECK(*numbers[0] == 1);
  CHECK(*numbers[1] == 2);
  CHECK(*numbers[2] == 3);
}

}  // namespace
