// SPDX-License-Identifier: BSD-3-Clause
// Which collective a tag belongs to. Tags count down, as Open MPI gives them out.
#include <doctest/doctest.h>

#include "profiler/counting/tag_runs.h"

namespace fathom::profiler {
namespace {

constexpr std::uint32_t kRuns = TagRuns::kRuns;

TEST_CASE("an empty list holds no tag") {
  const TagRuns runs;
  for (const int tag : {-1, 0, -27, -1'000'000}) CHECK(runs.find(tag) == TagRuns::kNotFound);
}

TEST_CASE("a run holds its two ends and all between, and nothing else") {
  TagRuns runs;
  runs.add(-30, -35, 4);
  CHECK(runs.find(-29) == TagRuns::kNotFound);
  for (int tag = -30; tag >= -35; --tag) CHECK(runs.find(tag) == 4);
  CHECK(runs.find(-36) == TagRuns::kNotFound);
}

// Merged runs never push out an older one.
TEST_CASE("consecutive runs of one class are one run") {
  TagRuns runs;
  runs.add(-30, -30, 1);
  for (int i = 0; i < 5 * static_cast<int>(kRuns); ++i) runs.add(-31 - i, -31 - i, 2);
  CHECK(runs.find(-30) == 1);
  CHECK(runs.find(-31) == 2);
  CHECK(runs.find(-30 - 5 * static_cast<int>(kRuns)) == 2);
}

TEST_CASE("a gap or another class begins a new run") {
  TagRuns runs;
  runs.add(-30, -31, 1);
  runs.add(-33, -34, 1);
  runs.add(-35, -36, 2);
  CHECK(runs.find(-32) == TagRuns::kNotFound);
  CHECK(runs.find(-34) == 1);
  CHECK(runs.find(-35) == 2);
}

// After its last tag the library starts again at the first: the newest owner has it.
TEST_CASE("a tag that is reused belongs to the newest run") {
  TagRuns runs;
  runs.add(-27, -40, 1);
  runs.add(-1'073'741'820, -1'073'741'821, 2);
  runs.add(-27, -30, 3);
  CHECK(runs.find(-27) == 3);
  CHECK(runs.find(-31) == 1);
  CHECK(runs.find(-1'073'741'821) == 2);
}

TEST_CASE("after kRuns changes only the oldest run is gone") {
  TagRuns runs;
  const auto tag_of = [](std::uint32_t i) { return -100 - static_cast<int>(i); };
  const auto class_of = [](std::uint32_t i) { return 1 + i % 2; };
  for (std::uint32_t i = 0; i < kRuns; ++i) runs.add(tag_of(i), tag_of(i), class_of(i));
  for (std::uint32_t i = 0; i < kRuns; ++i) REQUIRE(runs.find(tag_of(i)) == class_of(i));
  runs.add(tag_of(kRuns), tag_of(kRuns), class_of(kRuns));
  CHECK(runs.find(tag_of(0)) == TagRuns::kNotFound);
  for (std::uint32_t i = 1; i <= kRuns; ++i) REQUIRE(runs.find(tag_of(i)) == class_of(i));
}

TEST_CASE("a cleared list is empty and can be used again") {
  TagRuns runs;
  runs.add(-30, -31, 1);
  runs.clear();
  CHECK(runs.find(-30) == TagRuns::kNotFound);
  runs.add(-31, -31, 2);
  CHECK(runs.find(-30) == TagRuns::kNotFound);
  CHECK(runs.find(-31) == 2);
}

}  // namespace
}  // namespace fathom::profiler
