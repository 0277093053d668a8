// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/time_log.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace fathom::profiler {
namespace {

constexpr std::uint64_t kUnit = std::uint64_t{1} << TimeLog::kUnitBits;

std::uint64_t whole_units(std::uint64_t ticks) { return ticks / kUnit * kUnit; }

TEST_CASE("times come back in whole units, whatever the steps between them") {
  TimeLog log;
  REQUIRE(log.open(1 << 20));
  TimeLog::List list;
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> times;
  std::uint64_t now = std::uint64_t{1} << 50;
  for (int i = 0; i < 5000; ++i) {
    const int bits = static_cast<int>(random() % 40);
    const std::uint64_t step = random() % (std::uint64_t{1} << bits);
    now = random() % 5 == 0 && step < now ? now - step : now + step;
    times.push_back(now);
    log.append(list, now);
  }
  CHECK(list.count == times.size());
  TimeLog::Reader reader(log, list);
  for (std::size_t i = 0; i < times.size(); ++i) CHECK(reader.at(i) == whole_units(times[i]));
  CHECK(reader.at(times.size()) == 0);
  // Again, with gaps, and twice the same.
  TimeLog::Reader again(log, list);
  for (std::size_t i = 0; i < times.size(); i += 37) {
    CHECK(again.at(i) == whole_units(times[i]));
    CHECK(again.at(i) == whole_units(times[i]));
  }
}

TEST_CASE("when the ring is full, lists forget their oldest times and keep the others") {
  TimeLog log;
  REQUIRE(log.open(4 * 256));
  std::vector<TimeLog::List> lists(3);
  std::vector<std::uint64_t> counts(3);
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const std::size_t which = i % 7 == 0 ? 1 : i < 40 ? 2 : 0;
    log.append(lists[which], (1000 * i + which) * kUnit);
    ++counts[which];
  }
  std::uint64_t remembered = 0;
  for (std::size_t which = 0; which < 3; ++which) {
    REQUIRE(lists[which].count == counts[which]);
    TimeLog::Reader reader(log, lists[which]);
    std::uint64_t known = 0;
    for (std::uint64_t ordinal = 0; ordinal < counts[which]; ++ordinal) {
      const std::uint64_t time = reader.at(ordinal);
      CHECK((time == 0 || time / kUnit % 1000 == which));
      CHECK((time != 0 || known == 0));  // only the oldest are gone
      known += time != 0 ? 1 : 0;
    }
    remembered += known;
  }
  CHECK(remembered > 200);
  CHECK(remembered < 3000);
  TimeLog::Reader gone(log, lists[2]);
  CHECK(gone.at(0) == 0);
}

TEST_CASE("a time that is taken back leaves no trace, also at the beginning of a chunk") {
  TimeLog log;
  REQUIRE(log.open(1 << 16));
  TimeLog::List list;
  std::uint64_t now = 5 * kUnit;
  for (std::uint64_t i = 0; i < 500; ++i) {
    log.append(list, now += (i % 90 + 1) * kUnit * 100);
    log.append(list, now + 12345 * kUnit);
    log.take_back(list);
    CHECK(list.count == i + 1);
  }
  TimeLog::Reader reader(log, list);
  std::uint64_t expected = 5 * kUnit;
  for (std::uint64_t i = 0; i < 500; ++i)
    CHECK(reader.at(i) == (expected += (i % 90 + 1) * kUnit * 100));
}

}  // namespace
}  // namespace fathom::profiler
