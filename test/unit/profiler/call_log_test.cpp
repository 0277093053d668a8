// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/call_log.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace fathom::profiler {
namespace {

constexpr std::uint64_t kFacts = CallLog::kIsFacts;
constexpr std::uint64_t kMost = ~std::uint64_t{0};
constexpr std::uint64_t kLongest = std::uint64_t{1} << 62;  // ticks

bool same(const CallLog::Sum& a, const CallLog::Sum& b) {
  return a.row == b.row && a.ticks == b.ticks && a.program_ticks == b.program_ticks &&
         a.calls == b.calls && a.bytes == b.bytes;
}

struct Kept {
  CallLog::Record record;
  std::vector<std::uint64_t> parts;
  std::vector<CallLog::Sum> sums;

  // What is appended: the record with memory of its own.
  CallLog::Record whole() const {
    CallLog::Record all = record;
    all.parts = parts.data();
    all.part_count = static_cast<std::uint32_t>(parts.size());
    all.stretch.sums = sums.data();
    all.stretch.count = static_cast<std::uint32_t>(sums.size());
    return all;
  }
  bool is(const CallLog::Record& other) const {
    return record.entered == other.entered && record.left == other.left &&
           record.row == other.row && record.bytes == other.bytes &&
           record.of_main == other.of_main &&
           std::equal(parts.begin(), parts.end(), other.parts, other.parts + other.part_count) &&
           is(other.stretch);
  }
  bool is(const CallLog::Stretch& other) const {
    return record.stretch.short_waits == other.short_waits &&
           std::equal(sums.begin(), sums.end(), other.sums, other.sums + other.count, same);
  }
};

// Small and large numbers of all lengths, also in the wrong order of time.
std::vector<Kept> made(std::size_t count, const std::vector<profile::CallRow>& rows) {
  std::mt19937_64 random(1);
  const auto number = [&](std::uint64_t most) { return (random() >> random() % 64) % most; };
  const auto row = [&] { return &rows[random() % rows.size()]; };
  std::vector<Kept> all(count);
  for (Kept& one : all) {
    one.record.entered = number(kLongest);
    one.record.left = one.record.entered + number(kLongest);
    one.record.of_main = random() % 4 != 0;
    if (random() % 8 != 0) {
      one.record.row = row();
      one.record.bytes = number(kMost);
    }
    for (std::uint64_t i = random() % 5; i > 0; --i)
      one.parts.push_back(random() % 4 == 0 ? kFacts | number(std::uint64_t{1} << 31) << 32 |
                                                  static_cast<std::uint32_t>(random())
                                            : number(kFacts));
    if (!one.record.of_main) continue;
    one.record.stretch.short_waits = number(kMost);
    for (std::uint64_t i = random() % 6; i > 0; --i)
      one.sums.push_back({row(), number(kMost), number(kMost), number(kMost), number(kMost)});
  }
  return all;
}

TEST_CASE(
    "calls come back from the log as they were, whatever their numbers, in the room promised") {
  const std::vector<profile::CallRow> rows(3000);
  const std::vector<Kept> all = made(5000, rows);
  CallLog log;
  REQUIRE(log.open(std::size_t{1} << 22));
  for (const Kept& one : all) {
    const std::size_t before = log.used();
    log.append(one.whole());
    CHECK(log.used() - before <= CallLog::most_bytes(static_cast<std::uint32_t>(one.parts.size()),
                                                     static_cast<std::uint32_t>(one.sums.size())));
  }
  REQUIRE(log.used() <= log.most());
  std::vector<std::size_t> places;
  CallLog::Reader reader(log);
  CallLog::Record record;
  std::size_t bytes = 0;
  while (reader.next(record)) {
    REQUIRE(places.size() < all.size());
    CHECK(all[places.size()].is(record));
    places.push_back(reader.at());
    bytes += reader.size();
  }
  CHECK(places.size() == all.size());
  CHECK(bytes == log.used());
  for (std::size_t i = all.size(); i-- > 0;) CHECK(all[i].is(log.stretch_at(places[i])));
}

TEST_CASE("a log that is written anew has what stays") {
  const std::vector<profile::CallRow> rows(30);
  const std::vector<Kept> all = made(4000, rows);
  CallLog log;
  REQUIRE(log.open(std::size_t{1} << 22));
  for (const Kept& one : all) log.append(one.whole());
  std::vector<const Kept*> stays;
  for (const Kept& one : all) stays.push_back(&one);
  std::mt19937_64 random(2);
  for (int round = 0; round < 4; ++round) {
    std::vector<const Kept*> left;
    std::size_t number = 0;
    log.rewrite([&](const CallLog::Record& record) {
      REQUIRE(number < stays.size());
      if (random() % 3 != 0) {
        log.append(record);
        left.push_back(stays[number]);
      }
      ++number;
    });
    CHECK(number == stays.size());
    stays = left;
    CHECK(log.count() == stays.size());
    CallLog::Reader reader(log);
    CallLog::Record record;
    for (const Kept* one : stays) {
      REQUIRE(reader.next(record));
      CHECK(one->is(record));
    }
    CHECK(!reader.next(record));
  }
}

TEST_CASE("a call of a halo exchange takes some fifty bytes") {
  const std::vector<profile::CallRow> rows(5);
  CallLog log;
  REQUIRE(log.open(1 << 20));
  std::uint64_t now = 1'000'000'000'000;
  for (std::uint64_t round = 0; round < 1000; ++round) {
    std::vector<std::uint64_t> parts;
    std::vector<CallLog::Sum> sums;
    for (std::uint64_t i = 0; i < 4; ++i) {
      parts.push_back(i << 40 | (100'000 + round));
      sums.push_back({&rows[i], 900, 300, 1, 64});
    }
    log.append({now + 5000, now + 60'000, &rows[4], 0, true, parts.data(), 4, {sums.data(), 4, 0}});
    now += 60'000;
  }
  CHECK(log.used() < 60'000);
}

}  // namespace
}  // namespace fathom::profiler
