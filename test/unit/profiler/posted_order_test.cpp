// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/posted_order.h"

#include <doctest/doctest.h>

#include <vector>

#include "profiler/waits/wait_log.h"

namespace fathom::profiler {
namespace {

constexpr std::uint64_t kTicksPerUnit = std::uint64_t{1} << TimeLog::kUnitBits;
constexpr std::uint64_t kNone = PostedOrder::Places::kNone;

struct Receives {
  TimeLog log;
  Channel channel;
  explicit Receives(std::size_t bytes = 1 << 12) {
    REQUIRE(log.open(1 << 16));
    REQUIRE(PostedOrder::open(bytes));
  }

  void post(std::uint64_t when) { log.append(channel.times, when * kTicksPerUnit); }
  // A receive with a wildcard that was posted then, and completes now.
  void complete(std::uint64_t when) {
    log.repeat(channel.times);
    PostedOrder::posted_earlier(channel, when * kTicksPerUnit);
  }
  void remove(std::uint64_t ordinal) { PostedOrder::removed(channel, ordinal); }

  std::vector<std::uint64_t> places() const {
    return PostedOrder::places(channel, log).of_appended;
  }
  std::vector<std::uint64_t> when() const {
    std::vector<std::uint64_t> units;
    for (const std::uint64_t ticks : PostedOrder::places(channel, log).ticks)
      units.push_back(ticks / kTicksPerUnit);
    return units;
  }
};

using List = std::vector<std::uint64_t>;

TEST_CASE("a receive with a wildcard belongs before those that were posted after it") {
  Receives receives;
  for (const std::uint64_t when : {10, 30, 40}) receives.post(when);
  receives.complete(20);
  receives.post(50);
  CHECK(receives.channel.places_differ);
  CHECK(receives.places() == List{0, 2, 3, 1, 4});
  CHECK(receives.when() == List{10, 20, 30, 40, 50});
}

TEST_CASE("receives with wildcards that complete in another order than they were posted") {
  Receives receives;
  receives.post(40);
  for (const std::uint64_t when : {30, 10, 20}) receives.complete(when);
  CHECK(receives.places() == List{3, 2, 0, 1});
  CHECK(receives.when() == List{10, 20, 30, 40});
}

TEST_CASE("those posted after a cancelled receive move up") {
  Receives receives;
  for (const std::uint64_t when : {10, 20, 30}) receives.post(when);
  receives.remove(1);
  CHECK(receives.places() == List{0, kNone, 1});
  CHECK(receives.when() == List{10, 30});
}

TEST_CASE("without room for what differs, no place of the channel is known") {
  Receives receives(64);  // two of them
  receives.post(40);
  for (const std::uint64_t when : {10, 20}) receives.complete(when);
  CHECK_FALSE(receives.channel.places_unknown);
  receives.complete(30);
  CHECK(receives.channel.places_unknown);
}

}  // namespace
}  // namespace fathom::profiler
