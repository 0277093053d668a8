// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/matched_messages.h"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "profiler/waits/wait_log.h"

namespace fathom::profiler {
namespace {

constexpr std::uint64_t kTicksOfUnit = std::uint64_t{1} << TimeLog::kUnitBits;

// Channels stay where they are, because moments name them.
Channel& new_channel() {
  static std::vector<std::unique_ptr<Channel>> channels;
  return *channels.emplace_back(std::make_unique<Channel>());
}

struct Times {
  TimeLog log;
  Channel& channel = new_channel();
  Times() { REQUIRE(log.open(1 << 16)); }

  void post(std::uint64_t when) {
    MatchedMessages::make_way(channel, log);
    log.append(channel.times, when * kTicksOfUnit);
  }
  std::uint64_t hold(const int& message) { return MatchedMessages::hold(channel, &message); }
  MatchedMessages::Place receive(const int& message, std::uint64_t when) {
    return MatchedMessages::receive(&message, when * kTicksOfUnit, log);
  }
  std::uint64_t at(std::uint64_t ordinal) {
    TimeLog::Reader reader(log, channel.times);
    return MatchedMessages::moment(channel, ordinal, reader.at(ordinal)) / kTicksOfUnit;
  }
};

TEST_CASE("a message that a probe took and a receive takes next has one place") {
  Times times;
  const int message = 0;
  times.post(10);
  CHECK(times.hold(message) == 1);
  CHECK(times.receive(message, 20).ordinal == 1);
  times.post(30);
  CHECK((times.channel.held == 0 && times.channel.times.count == 3));
  CHECK((times.at(0) == 10 && times.at(1) == 20 && times.at(2) == 30));
  CHECK(times.receive(message, 40).channel == nullptr);
}

TEST_CASE(
    "several messages that probes took keep their places, in whatever order they are received") {
  Times times;
  const int messages[3] = {};
  for (std::uint64_t i = 0; i < 3; ++i) CHECK(times.hold(messages[i]) == i);
  CHECK(times.receive(messages[2], 50).ordinal == 2);
  CHECK(times.receive(messages[0], 60).ordinal == 0);
  CHECK(times.receive(messages[1], 70).ordinal == 1);
  times.post(80);
  CHECK((times.at(0) == 60 && times.at(1) == 70 && times.at(2) == 50 && times.at(3) == 80));
}

TEST_CASE("a receive that is posted meanwhile comes after the messages that probes took") {
  Times times;
  const int first = 0, second = 0;
  times.hold(first);
  times.post(10);
  times.hold(second);
  CHECK(times.at(0) == 0);  // not known yet
  CHECK(times.receive(second, 20).ordinal == 2);
  CHECK(times.receive(first, 30).ordinal == 0);
  CHECK((times.at(0) == 30 && times.at(1) == 10 && times.at(2) == 20));
}

TEST_CASE(
    "a handle that comes again is another message, and messages of other channels do not matter") {
  Times one, two;
  const int message = 0, other = 0;
  CHECK(one.hold(message) == 0);
  CHECK(two.hold(other) == 0);
  CHECK(one.receive(message, 10).channel == &one.channel);
  CHECK(one.hold(message) == 1);
  CHECK(one.receive(message, 30).ordinal == 1);
  CHECK(two.receive(other, 20).ordinal == 0);
  CHECK((one.at(0) == 10 && one.at(1) == 30 && two.at(0) == 20));
}

TEST_CASE("of a channel with more messages in probes' hands than fit nothing is claimed") {
  Times times;
  std::vector<int> messages(300);
  for (const int& message : messages) times.hold(message);
  CHECK((times.channel.order_unknown && times.channel.posts_unknown));
  CHECK_FALSE(Part::of(times.channel, 5).is_known());
  for (const int& message : messages) times.receive(message, 10);
  CHECK(times.channel.held == 0);
}

}  // namespace
}  // namespace fathom::profiler
