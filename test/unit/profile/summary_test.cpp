// SPDX-License-Identifier: BSD-3-Clause
// Sums by pair and the figures read off them, on numbers small enough to add up by hand.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "profile/pair_sums.h"
#include "profile/summary.h"
#include "test/unit/profile/sample.h"

namespace fathom::profile {
namespace {

std::vector<PairCount> triangle() {
  return {{0, 0, 5, 1}, {0, 1, 10, 1}, {1, 0, 30, 2}, {2, 0, 30, 9}};
}

TEST_CASE("blocks of all classes add up by pair, in order") {
  const auto pairs = sum_pairs(test::sample_profile());
  REQUIRE(pairs.size() == 4);
  CHECK(pairs[0].source == 0);
  CHECK(pairs[0].destination == 1);
  CHECK(pairs[0].bytes == 8120);
  CHECK(pairs[0].messages == 90);
  CHECK(pairs[1].destination == 4);
  CHECK(pairs[2].source == 1);
  CHECK(pairs[2].bytes == 8060);
  CHECK(pairs[3].bytes == 0);
  CHECK(pairs[3].messages == 2);
}

TEST_CASE("each part of a selection excludes something") {
  const Profile sample = test::sample_profile();
  Selection selection;
  selection.classes = {{"MPI_Allreduce"}};
  CHECK(total(sum_pairs(sample, selection)).bytes == 16000);
  selection = {};
  selection.origin = Origin::kUser;
  CHECK(total(sum_pairs(sample, selection)).messages == 18);
  selection.communicators = {{0}};
  CHECK(total(sum_pairs(sample, selection)).bytes == 180);
  selection = {};
  selection.phases = {{""}};
  CHECK(sum_pairs(sample, selection).size() == 4);
  selection.phases = {{"solve, outer"}};
  CHECK(total(sum_pairs(sample, selection)).bytes == 16000);
}

TEST_CASE("rows in any order and number add up as if added one by one") {
  PairSums sums;
  std::uint64_t state = 1, bytes[7][7] = {};
  for (int row = 0; row < 300'000; ++row) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto source = static_cast<std::int64_t>((state >> 33) % 7);
    const auto destination = static_cast<std::int64_t>((state >> 43) % 7);
    sums.add({source, destination, state >> 50, 1});
    bytes[source][destination] += state >> 50;
  }
  const auto pairs = sums.take();
  REQUIRE(pairs.size() == 49);
  for (const PairCount& pair : pairs) CHECK(pair.bytes == bytes[pair.source][pair.destination]);
  CHECK(total(pairs).messages == 300'000);
  CHECK(sums.take().empty());
}

TEST_CASE("a symmetrised matrix adds both directions under the smaller rank") {
  const auto pairs = symmetrised(triangle());
  REQUIRE(pairs.size() == 3);
  CHECK(pairs[0].destination == 0);
  CHECK(pairs[1].bytes == 40);
  CHECK(pairs[1].messages == 3);
  CHECK(pairs[2].source == 0);
  CHECK(pairs[2].destination == 2);
}

TEST_CASE("totals by class are sorted, heaviest first") {
  const auto totals = class_totals(test::sample_profile());
  REQUIRE(totals.size() == 2);
  CHECK(totals[0].class_name == kPointToPoint);
  CHECK(totals[0].volume.messages == 18);
  CHECK(totals[1].hidden);
  CHECK(totals[1].volume.bytes == 16000);
}

TEST_CASE("totals by rank count what it sent and what it received") {
  const auto totals = rank_totals(triangle());
  REQUIRE(totals.size() == 3);
  CHECK(totals[0].sent.bytes == 15);
  CHECK(totals[0].received.bytes == 65);
  CHECK(totals[2].sent.messages == 9);
  CHECK(totals[2].received.messages == 0);
}

TEST_CASE("the heaviest pairs are found by either metric, with ties broken by rank") {
  const auto by_bytes = top_pairs(triangle(), 2, Metric::kBytes);
  REQUIRE(by_bytes.size() == 2);
  CHECK(by_bytes[0].source == 1);
  CHECK(by_bytes[1].source == 2);
  CHECK(top_pairs(triangle(), 9, Metric::kMessages).size() == 4);
  CHECK(top_pairs(triangle(), 1, Metric::kMessages)[0].source == 2);
}

TEST_CASE("imbalance is largest over mean, including silent ranks") {
  CHECK(imbalance({4, 4}, 2) == 1);
  CHECK(imbalance({8}, 4) == 4);
  CHECK(imbalance({3, 1}, 2) == 1.5);
  CHECK(imbalance({}, 4) == 0);
}

TEST_CASE("density counts ordered pairs of different ranks") {
  CHECK(density(triangle(), 3) == 0.5);
  CHECK(density(triangle(), 1) == 0);
}

TEST_CASE("processes of other worlds count as ranks") {
  CHECK(rank_count(test::sample_profile()) == 5);
}

}  // namespace
}  // namespace fathom::profile
