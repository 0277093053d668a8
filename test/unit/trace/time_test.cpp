// SPDX-License-Identifier: BSD-3-Clause
// Ticks of several processes and hosts become nanoseconds of one run.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "test/unit/base/scratch_folder.h"
#include "test/unit/trace/files.h"
#include "trace/reader.h"
#include "trace/time_map.h"

using namespace fathom;
using namespace fathom::test;
using trace::ClockRow;
using trace::ProcessClock;
using trace::TimeMap;

namespace {

// A host whose clock is `offset_ns` ahead of the reference and gains `drift`; a counter of 2.5
// ticks a nanosecond.
struct Host {
  std::int64_t offset_ns = 0;
  double drift = 0;

  std::uint64_t monotonic_ns(std::uint64_t reference_ns) const {
    return reference_ns + static_cast<std::uint64_t>(offset_ns) +
           static_cast<std::uint64_t>(drift * static_cast<double>(reference_ns));
  }
  std::uint64_t ticks(std::uint64_t reference_ns) const {
    return monotonic_ns(reference_ns) * 5 / 2 + 12345;
  }
  ClockRow moment(std::uint64_t reference_ns, bool measured) const {
    return {ticks(reference_ns), monotonic_ns(reference_ns), 1'000'000'000 + reference_ns,
            measured ? reference_ns : 0, 300};
  }
};

constexpr std::uint64_t kSecond = 1'000'000'000;

std::int64_t error_ns(const TimeMap& map, const Host& host, std::uint64_t reference_ns) {
  return std::abs(map(host.ticks(reference_ns)) - static_cast<std::int64_t>(reference_ns));
}

}  // namespace

TEST_CASE("hosts with skewed and drifting clocks are mapped to the reference") {
  const Host first{0, 0}, second{-3'000'000'000, 4e-5};
  ProcessClock a{"n1", "tsc", {}}, b{"n2", "tsc", {}}, c{"n2", "tsc", {}};
  for (std::uint64_t second_number = 10; second_number <= 20; ++second_number) {
    a.moments.push_back(first.moment(second_number * kSecond, false));
    b.moments.push_back(second.moment(second_number * kSecond, true));   // measures for its host
    c.moments.push_back(second.moment(second_number * kSecond, false));  // does not
  }
  const trace::RunClock run = trace::bring_clocks_together({a, b, c});
  for (std::uint64_t ns = 9 * kSecond; ns <= 22 * kSecond;
       ns += kSecond / 3) {  // also a little outside
    CHECK(error_ns(run.to_reference_ns[0], first, ns) <= 2);
    CHECK(error_ns(run.to_reference_ns[1], second, ns) <= 4);
    CHECK(error_ns(run.to_reference_ns[2], second, ns) <= 4);
  }
  CHECK(run.uncertainty_ns == std::vector<std::uint64_t>{0, 300, 300});
  CHECK(run.problems == std::vector<std::string>{"", "", ""});
  CHECK(run.unix_less_reference_ns == 1'000'000'000);
}

// The times were mapped through every measurement, and the best one was named as their uncertainty.
TEST_CASE("a bad measurement of a clock does not displace a good one of its neighbour") {
  const Host first{0, 0}, second{-3'000'000'000, 4e-5};
  ProcessClock a{
      "n1", "tsc", {first.moment(10 * kSecond, false), first.moment(20 * kSecond, false)}};
  ProcessClock b{"n2", "tsc", {}}, c{"n2", "tsc", {}};
  for (const std::uint64_t ns : {10 * kSecond, 11 * kSecond}) {
    b.moments.push_back(second.moment(ns + 1000, true));
    c.moments.push_back(second.moment(ns, true));
    c.moments.back().reference_ns += 700'000;
    c.moments.back().uncertainty_ns = 800'000;
  }
  const trace::RunClock run = trace::bring_clocks_together({a, b, c});
  for (std::uint64_t ns = 10 * kSecond; ns <= 11 * kSecond; ns += kSecond / 10) {
    CHECK(error_ns(run.to_reference_ns[1], second, ns) <= 4);
    CHECK(error_ns(run.to_reference_ns[2], second, ns) <= 4);
  }
  CHECK(run.uncertainty_ns == std::vector<std::uint64_t>{0, 300, 300});
}

TEST_CASE("the uncertainty of a host is that of its worst moment") {
  const Host first{0, 0}, second{-3'000'000'000, 4e-5};
  const ProcessClock a{"n1", "tsc", {first.moment(10 * kSecond, false)}};
  ProcessClock b{
      "n2", "tsc", {second.moment(10 * kSecond, true), second.moment(20 * kSecond, true)}};
  b.moments.back().uncertainty_ns = 90'000;
  CHECK(trace::bring_clocks_together({a, b}).uncertainty_ns ==
        std::vector<std::uint64_t>{0, 90'000});
}

TEST_CASE("a host that was not measured is placed by its real-time clock with a note") {
  const Host first{0, 0}, second{7'000'000'000, 0};
  const ProcessClock a{
      "n1", "tsc", {first.moment(10 * kSecond, false), first.moment(20 * kSecond, false)}};
  const ProcessClock b{
      "n2", "tsc", {second.moment(10 * kSecond, false), second.moment(20 * kSecond, false)}};
  const trace::RunClock run = trace::bring_clocks_together({a, b});
  CHECK(error_ns(run.to_reference_ns[1], second, 15 * kSecond) <= 2);
  CHECK(run.problems[0].empty());
  CHECK(run.problems[1].find("host n2 was not measured") != std::string::npos);
}

TEST_CASE("a process without definitions is not the reference, and the times of others stay") {
  const Host host{0, 0};
  const ProcessClock lost{"unknown (rank 0)", "", {}};
  const ProcessClock known{
      "n1", "tsc", {host.moment(10 * kSecond, false), host.moment(20 * kSecond, false)}};
  const trace::RunClock alone = trace::bring_clocks_together({known});
  const trace::RunClock run = trace::bring_clocks_together({lost, known});
  CHECK(run.unix_less_reference_ns == alone.unix_less_reference_ns);
  CHECK(run.to_reference_ns[1](host.ticks(15 * kSecond)) ==
        alone.to_reference_ns[0](host.ticks(15 * kSecond)));
  CHECK(run.problems[1].empty());
  CHECK_FALSE(run.problems[0].empty());
}

TEST_CASE("a process with one moment takes the rate of its host") {
  const Host host{0, 0};
  const ProcessClock a{
      "n1", "tsc", {host.moment(10 * kSecond, false), host.moment(20 * kSecond, false)}};
  const ProcessClock killed{"n1", "tsc", {host.moment(11 * kSecond, false)}};
  const trace::RunClock run = trace::bring_clocks_together({a, killed});
  CHECK(error_ns(run.to_reference_ns[1], host, 19 * kSecond) <= 2);
}

TEST_CASE("the clock \"monotonic\" is exact") {
  const ProcessClock a{"n1", "monotonic", {{5, 60, 1'000, 0, 0}}};
  const trace::RunClock run = trace::bring_clocks_together({a});
  for (const std::uint64_t ns : {0ul, 1ul, 1'234'567'890'123'457ul}) {
    CHECK(run.to_reference_ns[0](ns) == static_cast<std::int64_t>(ns));
  }
}

TEST_CASE("a time map only goes forward, has an inverse, and omits moments that go back") {
  const TimeMap map({{1000, 500}, {2000, 1500}, {1900, 1600}, {3000, 1400}, {4000, 2500}}, 0.75,
                    0.001, 1e6);
  CHECK(map.points().size() == 3);
  std::int64_t last = map(0);
  for (std::uint64_t ticks = 0; ticks < 6000; ++ticks) {
    CHECK(map(ticks) >= last);
    last = map(ticks);
  }
  CHECK(map(1500) == 1000);
  CHECK(map(3000) == 2000);
  CHECK(map(5000) == 3250);
  CHECK(map(0) == -250);
  for (const std::uint64_t ticks : {1000ul, 1500ul, 3000ul, 5000ul}) {
    CHECK(std::abs(static_cast<double>(map.inverse(map(ticks))) - static_cast<double>(ticks)) <= 2);
  }
}

TEST_CASE("damaged moments do no harm") {
  const std::uint64_t most = ~std::uint64_t{0};
  for (const std::uint64_t value : {most, most / 2, std::uint64_t{1} << 60, std::uint64_t{0}}) {
    const ProcessClock a{"n1", "tsc", {{value, value, value, value, value}, {1, 2, 3, 4, 5}}};
    const ProcessClock b{
        "n2", "tsc", {{0, value, value, 0, value}, {most, value / 2, 1, value, 5}}};
    const trace::RunClock run = trace::bring_clocks_together({a, b});
    for (const std::uint64_t ticks : {std::uint64_t{0}, most / 2, most}) {
      CHECK(run.to_reference_ns[0](0) <= run.to_reference_ns[0](ticks));
      CHECK(run.to_reference_ns[1](0) <= run.to_reference_ns[1](ticks));
    }
  }
}

TEST_CASE("time 0 is the first record of all, and a clock that goes back does not reorder events") {
  const Scratch folder;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    TraceFile file(folder.path(), rank);
    file.definitions(definitions_rows(rank, 2, "", {{1, 1, 5'000'001, 0, 0}}));
    Words words = numbered_records(0, 3);
    words.push_back(record_head(trace::RecordKind::kTime, 1, 0, 0));
    words.push_back(1005 - 500 * rank);  // a step back
    words.push_back(record_head(trace::RecordKind::kProcessor, 0, 3, 0));
    file.events(0, 0, 1000 - 400 * rank, words, 5);
    file.finish();
  }
  const auto trace = trace::Trace::open(folder.path());
  REQUIRE(trace.ok());
  CHECK(trace->definitions().epoch_unix_ns == 5'000'600);
  trace::Event event;
  trace::EventCursor first = trace->events(0), second = trace->events(1);
  for (const std::uint64_t expected : {400u, 410u, 420u, 420u}) {
    REQUIRE(first.next(event));
    CHECK(event.time_ns == expected);
  }
  for (const std::uint64_t expected : {0u, 10u, 20u, 20u}) {
    REQUIRE(second.next(event));
    CHECK(event.time_ns == expected);
  }
}
