// SPDX-License-Identifier: BSD-3-Clause
// The rows hold what record() was given, added up over the lanes.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <thread>
#include <tuple>
#include <vector>

#include "profiler/counting/counter.h"
#include "test/unit/profiler/fake_openmpi.h"

namespace fathom::profiler {
namespace {

using profile::Direction;
using test::fake_sentinel;
using test::fake_world;
using test::FakeGroup;

constexpr std::uint32_t kJob = 0x00010001, kOtherJob = 0x00010002;

struct Sum {
  std::uint64_t bytes = 0, messages = 0;
  rankmap::Identity peer;
  bool operator==(const Sum&) const = default;
};

struct Counts {
  std::map<std::tuple<Direction, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, Sum>
      cells;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> sizes,
      bins;  // (class, size) -> messages
};

Counts counts_of(const Counter& counter) {
  Counts counts;
  counter.for_each_lane([&counts](const auto& cells, const auto& sizes) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto key = profile::unpack_cell_key(cells[i].key);
      Sum& sum = counts.cells[{key.direction, key.communicator, key.class_id, key.phase, key.peer}];
      sum.bytes += cells[i].bytes;
      sum.messages += cells[i].messages;
      sum.peer = {cells[i].peer_job, cells[i].peer_rank};
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto class_id = static_cast<std::uint32_t>(sizes[i].key >> (profile::kSizeBits + 1));
      auto& into = (sizes[i].key & profile::kBinned) ? counts.bins : counts.sizes;
      into[{class_id, sizes[i].key & profile::kSizeMask}] += sizes[i].messages;
    }
  });
  return counts;
}

std::unique_ptr<Counter> open_counter(int lanes = 1) {
  auto counter = std::make_unique<Counter>();
  REQUIRE(counter->open(lanes, kJob));
  return counter;
}

TEST_CASE(
    "cells are separated by direction, communicator, class and peer, and name the world rank") {
  const FakeGroup group({{kJob, 6}, {kJob, 4}});
  const auto counter = open_counter();
  counter->record(Direction::kSent, 0, kPointToPoint, group.address(), 0, 100);
  counter->record(Direction::kSent, 0, kPointToPoint, group.address(), 0, 20);
  counter->record(Direction::kSent, 0, kPointToPoint, group.address(), 1, 3);
  counter->record(Direction::kSent, 1, kPointToPoint, group.address(), 0, 4);
  counter->record(Direction::kSent, 0, kBcast, group.address(), 0, 5);
  counter->record(Direction::kReceived, 0, kPointToPoint, group.address(), 0, 0);
  const auto cells = counts_of(*counter).cells;
  CHECK(cells.size() == 5);
  CHECK(cells.at({Direction::kSent, 0, kPointToPoint, 0, 0}) == Sum{120, 2, {kJob, 6}});
  CHECK(cells.at({Direction::kSent, 0, kPointToPoint, 0, 1}) == Sum{3, 1, {kJob, 4}});
  CHECK(cells.at({Direction::kSent, 1, kPointToPoint, 0, 0}) == Sum{4, 1, {kJob, 6}});
  CHECK(cells.at({Direction::kSent, 0, kBcast, 0, 0}) == Sum{5, 1, {kJob, 6}});
  CHECK(cells.at({Direction::kReceived, 0, kPointToPoint, 0, 0}) == Sum{0, 1, {kJob, 6}});
  CHECK(counter->lost() == 0);
}

TEST_CASE("the largest numbers that a key holds are read back whole") {
  const FakeGroup group(fake_world(kJob, 2));
  const auto counter = open_counter();
  constexpr std::uint32_t kCommunicator = (1u << profile::kCommunicatorBits) - 1;
  constexpr std::uint64_t kBytes = std::uint64_t{3} << 40;
  counter->set_phase(Counter::kMaxPhases - 1);
  counter->record(Direction::kReceived, kCommunicator, 125, group.address(), 1, kBytes);
  const auto counts = counts_of(*counter);
  CHECK(counts.cells.at({Direction::kReceived, kCommunicator, 125, Counter::kMaxPhases - 1, 1}) ==
        Sum{kBytes, 1, {kJob, 1}});
  CHECK(counts.sizes.at({125, kBytes}) == 1);
}

TEST_CASE("sizes are exact up to each class's limit, then in bins of powers of two") {
  const FakeGroup group(fake_world(kJob, 2));
  const auto counter = open_counter();
  const auto receive = [&](ClassId class_id, std::uint64_t bytes) {
    counter->record(Direction::kReceived, 0, class_id, group.address(), 1, bytes);
  };
  for (std::uint64_t bytes = 0; bytes < profile::kExactSizes; ++bytes)
    receive(kPointToPoint, bytes);
  receive(kPointToPoint, 2048);  // one too many
  receive(kPointToPoint, 4095);
  receive(kPointToPoint, 4096);
  receive(kPointToPoint, 4095);
  receive(kPointToPoint, 7);  // known from before
  receive(kBcast, 4095);      // a class with sizes of its own
  const auto counts = counts_of(*counter);
  CHECK(counts.sizes.size() == profile::kExactSizes + 1);
  CHECK(counts.sizes.at({kPointToPoint, 0}) == 1);
  CHECK(counts.sizes.at({kPointToPoint, 7}) == 2);
  CHECK(counts.sizes.at({kBcast, 4095}) == 1);
  CHECK(counts.bins ==
        decltype(counts.bins){{{kPointToPoint, 2048}, 3}, {{kPointToPoint, 4096}, 1}});
}

TEST_CASE("only the witness of sizes fills the histogram, except for what only this process sees") {
  const FakeGroup group({rankmap::Identity{kJob, 0}, rankmap::Identity{kOtherJob, 0}});
  const auto counter = open_counter();
  counter->record(Direction::kSent, 0, kPointToPoint, group.address(), 0, 10);  // not the witness
  counter->record(Direction::kReceived, 0, kPointToPoint, group.address(), 0, 11);
  counter->record(Direction::kSent, 0, kPointToPoint, group.address(), 1, 12);  // to another world
  counter->record(Direction::kSent, 0, kPosted, group.address(), 0, 13);
  counter->record(Direction::kInvisible, 0, kPosted, group.address(), 0, 14);
  auto sizes = counts_of(*counter).sizes;
  CHECK(sizes ==
        decltype(sizes){{{kPointToPoint, 11}, 1}, {{kPointToPoint, 12}, 1}, {{kPosted, 13}, 1}});
  counter->clear();
  counter->set_size_witness(Direction::kSent);
  counter->record(Direction::kSent, 0, kPointToPoint, group.address(), 0, 10);
  counter->record(Direction::kReceived, 0, kPointToPoint, group.address(), 0, 11);
  sizes = counts_of(*counter).sizes;
  CHECK(sizes == decltype(sizes){{{kPointToPoint, 10}, 1}});
}

TEST_CASE("a message that waits for a receive is in no histogram, and counts while paused") {
  const FakeGroup group({rankmap::Identity{kJob, 0}, rankmap::Identity{kOtherJob, 0}});
  for (const int lanes : {1, 2}) {
    const auto counter = open_counter(lanes);
    counter->set_size_witness(Direction::kReceived);
    counter->set_paused(true);
    counter->record_unreceived(0, kPointToPoint, group.address(), 0, 10);
    counter->record_unreceived(0, kPointToPoint, group.address(), 0, 20);
    counter->record_unreceived(0, kPointToPoint, group.address(), 1, 5);
    const auto counts = counts_of(*counter);
    CHECK(counts.sizes.empty());
    CHECK(counts.cells.size() == 2);
    CHECK(counts.cells.at({Direction::kUnreceived, 0, kPointToPoint, 0, 0}) ==
          Sum{30, 2, {kJob, 0}});
  }
}

TEST_CASE("each phase has its own cells, and nothing is counted while paused") {
  const FakeGroup group(fake_world(kJob, 2));
  const auto counter = open_counter();
  const auto send = [&](std::uint64_t bytes) {
    counter->record(Direction::kSent, 0, kPointToPoint, group.address(), 1, bytes);
  };
  send(1);
  counter->set_phase(3);
  send(2);
  CHECK_FALSE(counter->was_ever_paused());
  counter->set_paused(true);
  send(4);
  counter->set_paused(false);
  send(8);
  counter->set_phase(0);
  send(16);
  CHECK(counter->was_ever_paused());
  const auto cells = counts_of(*counter).cells;
  CHECK(cells.size() == 2);
  CHECK(cells.at({Direction::kSent, 0, kPointToPoint, 0, 1}) == Sum{17, 2, {kJob, 1}});
  CHECK(cells.at({Direction::kSent, 0, kPointToPoint, 3, 1}) == Sum{10, 2, {kJob, 1}});
}

TEST_CASE("a message first counted as empty is corrected when it had bytes") {
  const FakeGroup group(fake_world(kJob, 2));
  for (const int lanes : {1, Counter::kLanes}) {
    const auto counter = open_counter(lanes);
    counter->record(Direction::kReceived, 0, kPointToPoint, group.address(), 1, 0);
    counter->retract_empty(0, kPointToPoint, group.address(), 1);
    counter->record(Direction::kReceived, 0, kPointToPoint, group.address(), 1, 64);
    const auto counts = counts_of(*counter);
    CHECK(counts.cells.at({Direction::kReceived, 0, kPointToPoint, 0, 1}) == Sum{64, 1, {kJob, 1}});
    CHECK(counts.sizes.at({kPointToPoint, 0}) == 0);
    CHECK(counts.sizes.at({kPointToPoint, 64}) == 1);
  }
}

TEST_CASE("each message to a peer outside the group is counted as lost") {
  const FakeGroup group(fake_world(kJob, 2));
  const auto counter = open_counter();
  for (const std::uint32_t peer : {2u, 2u, Counter::kMaxPeers, ~0u}) {
    counter->record(Direction::kSent, 0, kPointToPoint, group.address(), peer, 10);
  }
  CHECK(counter->lost() == 4);
  CHECK(counts_of(*counter).cells.empty());
  CHECK(counts_of(*counter).sizes.empty());
  counter->record(Direction::kSent, 0, kPointToPoint, group.address(), 1, 10);
  CHECK(counter->lost() == 4);
  std::atomic<std::uint64_t> seen_by_others{0};
  counter->keep_lost_in(seen_by_others);
  counter->record(Direction::kSent, 0, kPointToPoint, group.address(), 2, 10);
  CHECK(seen_by_others == 5);
  CHECK(counter->lost() == 5);
}

TEST_CASE("calls that a module hides are counted by the module's number, not by a rank") {
  const FakeGroup group(fake_world(kJob, 1));
  const auto counter = open_counter();
  counter->record(Direction::kInvisible, 0, kBcast, group.address(), 9, 0);
  CHECK(counts_of(*counter).cells.at({Direction::kInvisible, 0, kBcast, 0, 9}) ==
        Sum{0, 1, {kJob, 0}});
  CHECK(counter->lost() == 0);
}

TEST_CASE("sums leave the histogram unchanged") {
  const FakeGroup group(fake_world(kJob, 2));
  const auto counter = open_counter();
  counter->record_sum(Direction::kReceived, 0, kPointToPoint, group.address(), 1, 1000, 10);
  counter->record_sum(Direction::kReceived, 0, kPointToPoint, group.address(), 0, 0, 0);
  CHECK(counts_of(*counter).cells.size() == 1);
  CHECK(counts_of(*counter).sizes.empty());
  counter->record(Direction::kReceived, 0, kPointToPoint, group.address(), 1, 5);
  CHECK(counts_of(*counter).sizes.size() == 1);
}

TEST_CASE("sentinels are resolved like processes") {
  const FakeGroup group({fake_sentinel({kJob, 70'000})});
  const auto counter = open_counter();
  counter->record(Direction::kSent, 0, kPointToPoint, group.address(), 0, 1);
  CHECK(counts_of(*counter).cells.begin()->second.peer == rankmap::Identity{kJob, 70'000});
}

TEST_CASE("counts of threads on several lanes add up, even if one corrects another") {
  constexpr int kThreads = 20, kEach = 5000;  // more threads than lanes
  const FakeGroup group(fake_world(kJob, 8));
  const auto counter = open_counter(Counter::kLanes);
  CHECK(counter->shared_by_threads());
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const auto peer = static_cast<std::uint32_t>((i + t) % 8);
        counter->record(Direction::kSent, 0, kPointToPoint, group.address(), peer, 3);
        counter->record(Direction::kReceived, 0, kPointToPoint, group.address(), peer, 0);
        counter->retract_empty(0, kPointToPoint, group.address(), peer);
        counter->record(Direction::kReceived, 0, kPointToPoint, group.address(), peer, 5);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const auto counts = counts_of(*counter);
  for (std::uint32_t peer = 0; peer < 8; ++peer) {
    constexpr std::uint64_t kPerPeer = std::uint64_t{kThreads} * kEach / 8;
    CHECK(counts.cells.at({Direction::kSent, 0, kPointToPoint, 0, peer}) ==
          Sum{3 * kPerPeer, kPerPeer, {kJob, peer}});
    CHECK(counts.cells.at({Direction::kReceived, 0, kPointToPoint, 0, peer}) ==
          Sum{5 * kPerPeer, kPerPeer, {kJob, peer}});
  }
  CHECK(counts.sizes.at({kPointToPoint, 0}) == 0);
  CHECK(counts.sizes.at({kPointToPoint, 5}) == std::uint64_t{kThreads} * kEach);
}

TEST_CASE("a cleared counter counts from zero, with all its exact sizes") {
  const FakeGroup group(fake_world(kJob, 2));
  const auto counter = open_counter();
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t bytes = 0; bytes < profile::kExactSizes; ++bytes) {
      counter->record(Direction::kReceived, 0, kPointToPoint, group.address(), 1, bytes);
    }
    counter->record(Direction::kSent, 0, kPointToPoint, group.address(), 2, 1);
    const auto counts = counts_of(*counter);
    CHECK(counts.sizes.size() == profile::kExactSizes);
    CHECK(counts.bins.empty());
    CHECK(counts.cells.begin()->second.messages == profile::kExactSizes);
    CHECK(counter->lost() == 1);
    counter->clear();
    CHECK(counts_of(*counter).cells.empty());
  }
}

}  // namespace
}  // namespace fathom::profiler
