// SPDX-License-Identifier: BSD-3-Clause
// Every key finds its own row after any sequence of operations.
#include <doctest/doctest.h>

#include <vector>

#include "profiler/counting/row_table.h"

namespace fathom::profiler {
namespace {

using profile::CellRow;

// Keys as they come: consecutive peers, with a class and a communicator above them.
std::uint64_t key_of(std::uint64_t i) { return i % 1000 | i / 1000 << profile::kCommunicatorShift; }

TEST_CASE("rows stay in place and are found again while the index grows") {
  constexpr std::uint64_t kRows = 1 << 17;  // from an index of 256 entries to one of 262,144
  CellTable table;
  REQUIRE(table.open(kRows));
  std::vector<CellRow*> rows;
  for (std::uint64_t i = 0; i < kRows; ++i) {
    REQUIRE(table.find(key_of(i)) == nullptr);
    CellRow* row = table.add(key_of(i));
    REQUIRE(row != nullptr);
    REQUIRE(row->messages == 0);
    row->messages = i + 1;
    rows.push_back(row);
  }
  for (std::uint64_t i = 0; i < kRows; ++i) {
    REQUIRE(table.find(key_of(i)) == rows[i]);
    REQUIRE(rows[i]->messages == i + 1);
  }
  CHECK(table.rows().size() == kRows);
  CHECK(table.find(key_of(kRows)) == nullptr);
}

TEST_CASE("extreme keys work like any other") {
  CellTable table;
  REQUIRE(table.open(1000));
  for (const std::uint64_t key : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    CHECK(table.find(key) == nullptr);
    REQUIRE(table.add(key) != nullptr);
    CHECK(table.find(key)->key == key);
  }
}

TEST_CASE("a full table refuses new keys, keeps the old ones and ends every search") {
  constexpr std::size_t kRows = 1024;
  CellTable table;
  REQUIRE(table.open(kRows));
  std::uint64_t added = 0;
  while (table.add(key_of(added)) != nullptr) REQUIRE(++added <= kRows);
  CHECK(added == kRows);
  CHECK(table.add(key_of(added)) == nullptr);
  CHECK(table.find(key_of(added)) == nullptr);
  for (std::uint64_t i = 0; i < added; ++i) REQUIRE(table.find(key_of(i)) != nullptr);
}

TEST_CASE("a cleared table is empty and holds as much as before") {
  constexpr std::uint64_t kRows = 4096;
  CellTable table;
  REQUIRE(table.open(kRows));
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < kRows; ++i) {
      CellRow* row = table.add(key_of(i));
      REQUIRE(row != nullptr);
      REQUIRE(row->bytes == 0);
      row->bytes = 8;
    }
    table.clear();
    CHECK(table.rows().size() == 0);
    for (std::uint64_t i = 0; i < kRows; ++i) REQUIRE(table.find(key_of(i)) == nullptr);
  }
}

TEST_CASE("a lack of address space is reported and does not crash") {
  CellTable table;
  CHECK_FALSE(table.open(std::size_t{1} << 55));
}

}  // namespace
}  // namespace fathom::profiler
