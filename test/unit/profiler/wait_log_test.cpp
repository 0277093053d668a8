// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/wait_log.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "mpi/wait_kind.h"
#include "profiler/calls/call_sites.h"
#include "profiler/waits/time_line.h"

namespace fathom::profiler {
namespace {

constexpr const char* kNames[] = {"MPI_Recv", "MPI_Comm_rank", "MPI_Test"};
enum Function : std::uint32_t { kRecv, kCommRank, kTest };
constexpr double kNsPerTick = 0.5;
constexpr auto kLongestPoll = static_cast<std::uint64_t>(mpi::kLongestPoll_ns / kNsPerTick);

// A log of this process is opened once; what tests add to it, all of them see.
void open() {
  // Several threads may be inside MPI, so that a turn taken twice by one thread never ends.
  static const bool opened = WaitLog::open(1 << 16, true, kNames, 3, kNsPerTick);
  REQUIRE(opened);
}

struct Time {
  std::uint64_t now = 1'000'000;
  void call(Function function, std::uint64_t ticks, profile::CallRow* row, std::uint64_t bytes,
            bool completes) {
    WaitLog::entered(function, now);
    if (completes) WaitLog::completed({Part::kUnknown});
    now += ticks;
    row->calls += 1;
    row->bytes += bytes;
    WaitLog::left(now, row, bytes);
    now += 10;  // of the program
  }
  void test(std::uint64_t ticks, profile::CallRow* row, bool succeeds, int requests = 1) {
    WaitLog::poll_entered(kTest, now);
    WaitLog::completes(requests, &request);
    if (succeeds) WaitLog::completed({Part::kUnknown});
    now += ticks;
    row->calls += 1;
    if (succeeds) {
      WaitLog::poll_succeeded(now, row, 0);
    } else {
      WaitLog::poll_failed(row, now, row, 0, &durations);
    }
    now += 10;
  }
  // From the place that `row` stands for; untimed if the log allows it. Returns whether it did.
  bool any_test(std::uint64_t ticks, profile::CallRow* row, bool succeeds) {
    if (!WaitLog::is_untimed_poll(row)) {
      test(ticks, row, succeeds);
      return false;
    }
    CallSites::enter_outermost();
    WaitLog::untimed_poll_entered(1, &request);
    now += ticks;
    if (succeeds) {
      WaitLog::completed({Part::kUnknown});
      row->ticks += WaitLog::untimed_poll_succeeded(kTest, now);
      row->calls += 1;
      WaitLog::poll_succeeded(now, row, 0);
    } else {
      WaitLog::untimed_poll_failed();
    }
    CallSites::leave_outermost();
    now += 10;
    return true;
  }
  // The log, which outlives a test case, keeps where they are.
  static inline std::uint64_t durations = 0;
  static inline void* request = nullptr;
};

struct OfPlace {
  std::uint64_t ticks = 0, calls = 0, bytes = 0;
  bool operator==(const OfPlace&) const = default;
  void add(std::uint64_t more_ticks, std::uint64_t more_calls, std::uint64_t more_bytes) {
    ticks += more_ticks;
    calls += more_calls;
    bytes += more_bytes;
  }
};
using Sums = std::map<const profile::CallRow*, OfPlace>;

void add(Sums& sums, WaitLog::Stretch stretch) {
  for (std::uint32_t i = 0; i < stretch.count; ++i) {
    const WaitLog::Sum one = stretch.sums[i];
    sums[one.row].add(one.ticks, one.calls, one.bytes);
  }
}

// Of the records and the present stretch.
struct Found {
  Sums sums;
  std::vector<WaitLog::Record> calls;  // what they point to is gone
};
Found all_found() {
  Found found;
  WaitLog::for_each_record([&](const WaitLog::Record& record, std::uint32_t, std::size_t) {
    add(found.sums, record.stretch);
    if (record.row != nullptr) found.calls.push_back(record);
  });
  add(found.sums, WaitLog::present_stretch());
  return found;
}

TEST_CASE("no call is lost, whatever its place and however little memory there is") {
  open();
  static std::vector<profile::CallRow> rows(200);  // the log keeps where they are
  const std::uint64_t first_threshold = WaitLog::threshold_ticks();
  Sums truth;
  Time time;
  for (int round = 0; round < 300; ++round) {
    for (std::size_t place = 0; place < rows.size(); ++place) {
      const bool completes = place % 3 == 0;
      // More and more of them are shorter than the threshold, which rises as memory ends.
      const std::uint64_t ticks = 100 + place * place / 4 + (completes ? first_threshold : 0);
      time.call(completes ? kRecv : kCommRank, ticks, &rows[place], place, completes);
      truth[&rows[place]].add(ticks, 1, place);
    }
    WaitLog::end_stretch(time.now);
  }
  CHECK(WaitLog::threshold_ticks() > first_threshold);
  CHECK(WaitLog::left_out() > 0);
  Sums found;
  std::uint64_t before = 0, short_waits = 0;
  WaitLog::for_each_record([&](const WaitLog::Record& record, std::uint32_t, std::size_t at) {
    CHECK(record.entered >= before);
    before = record.left;
    short_waits += record.stretch.short_waits;
    if (record.row != nullptr) found[record.row].add(record.left - record.entered, 1, record.bytes);
    add(found, WaitLog::stretch_at(at));
  });
  add(found, WaitLog::present_stretch());
  CHECK(short_waits + WaitLog::present_stretch().short_waits == WaitLog::left_out_ticks());
  CHECK(found == truth);
}

TEST_CASE(
    "a polling loop is one call from the first that failed, and leaves the stretch before it") {
  open();
  static std::vector<profile::CallRow> rows(3);  // the log keeps where they are
  Time time{std::uint64_t{1} << 40};
  const std::uint64_t longer = 4 * WaitLog::threshold_ticks();
  time.call(kCommRank, 70, &rows[0], 0, false);
  time.test(30, &rows[1], false);
  time.call(kCommRank, 70, &rows[0], 0, false);  // ends that loop, which has found nothing
  const std::uint64_t entered = time.now;
  time.test(20, &rows[1], false);
  time.test(40, &rows[2], false);
  time.test(20, &rows[1], false);
  time.test(longer, &rows[1], true);
  const Found found = all_found();
  REQUIRE(found.calls.back().row == &rows[1]);
  CHECK(found.calls.back().entered == entered);
  CHECK(found.calls.back().left == entered + 20 + 40 + 20 + longer + 3 * 10);
  CHECK(found.calls.back().part_count == 1);
  CHECK(found.sums.at(&rows[0]) == OfPlace{140, 2, 0});
  CHECK(found.sums.at(&rows[1]) == OfPlace{30, 1, 0});
  CHECK(found.sums.count(&rows[2]) == 0);
}

TEST_CASE("what is between two tests ends a loop if it is another call, a window or too long") {
  open();
  static std::vector<profile::CallRow> rows(2);  // the log keeps where they are
  Time time{std::uint64_t{1} << 41};
  const std::uint64_t longer = 4 * WaitLog::threshold_ticks();
  for (int what = 0; what < 5; ++what) {
    CAPTURE(what);
    const std::size_t calls = all_found().calls.size();
    const std::uint64_t entered = time.now;
    time.test(20, &rows[0], false);
    switch (what) {
      case 0: time.call(kCommRank, 5, &rows[1], 0, false); break;
      case 1: WaitLog::end_stretch(time.now); break;
      case 2: time.now += kLongestPoll - 9; break;  // ten ticks have passed already
      case 3: time.now += kLongestPoll - 10; break;
      default: WaitLog::interrupt_loop();
    }
    time.test(longer, &rows[0], true);
    const Found found = all_found();
    if (what != 3) {
      CHECK(found.calls.size() == calls);
      continue;
    }
    REQUIRE(found.calls.size() == calls + 1);
    CHECK(found.calls.back().entered == entered);
  }
  const Sums sums = all_found().sums;
  CHECK(sums.at(&rows[0]) == OfPlace{4 * (20 + longer), 8, 0});
}

TEST_CASE("of a loop that goes on failing one test in 256 is timed, and all are counted") {
  open();
  static std::vector<profile::CallRow> rows(2);  // the log keeps where they are
  Time time{std::uint64_t{1} << 43};
  time.call(kCommRank, 5, &rows[1], 0, false);
  const std::uint64_t entered = time.now;
  std::uint64_t tests = 0;
  constexpr std::uint64_t kTimed = 106;
  for (std::uint64_t timed = 0; timed < kTimed; ++timed) {
    do {
      CHECK(rows[0].calls == tests);
      tests += 1;
    } while (time.any_test(20, &rows[0], false));
  }
  CHECK(rows[0].estimated == tests - kTimed);  // the last one was timed, so nothing is outstanding
  // Runs of none, 3, 15, 63 and then of 255.
  CHECK(tests == kTimed + 3 + 15 + 63 + 101 * 255);
  CHECK(all_found().sums.at(&rows[0]) == OfPlace{20 * tests, tests, 0});
  while (time.any_test(20, &rows[0], false)) continue;  // the next goes untimed
  const std::uint64_t before = rows[0].ticks;
  CHECK(time.any_test(500, &rows[0], true));
  CHECK(rows[0].ticks - before == 20);  // as long as those that failed
  const Found found = all_found();
  REQUIRE(found.calls.back().row == &rows[0]);
  CHECK(found.calls.back().entered == entered);
  CHECK(found.calls.back().left == time.now - 10);
}

TEST_CASE(
    "a test is timed after another call, a phase, from another place, or if tests are long or far "
    "apart") {
  open();
  static std::vector<profile::CallRow> rows(3);  // the log keeps where they are
  Time time{std::uint64_t{1} << 44};
  const auto fail = [&](int times) {
    for (int i = 0; i < times; ++i) time.any_test(20, &rows[0], false);
  };
  const auto untimed = [&] { return WaitLog::is_untimed_poll(&rows[0]); };
  for (int what = 0; what < 5; ++what) {
    CAPTURE(what);
    fail(12);
    REQUIRE(untimed());
    switch (what) {
      case 0: time.call(kCommRank, 5, &rows[1], 0, false); break;
      case 1: WaitLog::end_stretch(time.now); break;
      case 2: WaitLog::interrupt_loop(); break;
      case 3: time.test(20, &rows[2], false, 0); break;  // probes
      default: time.test(20, &rows[2], false);
    }
    CHECK(!untimed());
  }
  time.call(kCommRank, 5, &rows[1], 0, false);
  CHECK(!WaitLog::is_untimed_poll(nullptr));  // inside another call, while no loop goes on
  for (int i = 0; i < 20; ++i) CHECK(!time.any_test(kLongestPoll / 1000, &rows[0], false));
  time.call(kCommRank, 5, &rows[1], 0, false);
  for (int i = 0; i < 20; ++i) {
    CHECK(!time.any_test(20, &rows[0], false));
    time.now += kLongestPoll / 8;
  }
}

TEST_CASE("fewer tests go untimed where they are further apart, so that no loop seems to end") {
  open();
  static std::vector<profile::CallRow> rows(1);  // the log keeps where they are
  Time time{std::uint64_t{1} << 46};
  for (const int in_eighth : {10'000, 100, 10, 2}) {
    CAPTURE(in_eighth);
    std::uint64_t timed_at = time.now, longest = 0;
    int untimed = 0;
    for (int i = 0; i < 2'000; ++i) {
      const std::uint64_t now = time.now;
      if (time.any_test(20, &rows[0], false)) {
        untimed += 1;
      } else {
        longest = i < 300 ? 0 : std::max(longest, now - timed_at);  // once it has got used to it
        timed_at = now;
      }
      time.now += kLongestPoll / 8 / in_eighth;
    }
    CHECK(untimed > 200);
    CHECK(longest < kLongestPoll);
  }
}

TEST_CASE("a gap between tests that go untimed ends a loop if the thread had a processor then") {
  open();
  static std::vector<profile::CallRow> rows(1);  // the log keeps where they are
  Time time{std::uint64_t{1} << 45};
  for (const bool computes : {true, false}) {
    CAPTURE(computes);
    const std::size_t calls = all_found().calls.size();  // first, because it computes
    for (int i = 0; i < 4; ++i) time.any_test(20, &rows[0], false);
    REQUIRE(WaitLog::is_untimed_poll(&rows[0]));
    time.now += 400 * kLongestPoll;
    const auto cpu_ns = [] { return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); };
    const std::uint64_t began = cpu_ns();
    while (computes && cpu_ns() - began < 3 * mpi::kLongestPoll_ns) continue;
    CHECK(time.any_test(20, &rows[0], true));
    CHECK(all_found().calls.size() == calls + (computes ? 0 : 1));
  }
}

TEST_CASE("a loop that is too short stays in the stretch, and counts as left out") {
  open();
  static std::vector<profile::CallRow> rows(1);  // the log keeps where they are
  Time time{std::uint64_t{1} << 42};
  const std::uint64_t calls = WaitLog::left_out(), ticks = WaitLog::left_out_ticks(),
                      short_waits = WaitLog::present_stretch().short_waits;
  time.test(20, &rows[0], false);
  time.test(30, &rows[0], true);
  CHECK(all_found().sums.at(&rows[0]) == OfPlace{50, 2, 0});
  CHECK(WaitLog::left_out() == calls + 1);
  CHECK(WaitLog::left_out_ticks() == ticks + 60);
  CHECK(WaitLog::present_stretch().short_waits == short_waits + 60);
}

// What follow() says of a walk through the window, from wait to wait.
struct Followed {
  std::vector<std::uint32_t> peers;
  std::int64_t now_ns = 0, error_ns = 0;
  std::vector<std::vector<std::uint64_t>> rows;
  bool operator==(const Followed&) const = default;
};
Followed followed(TimeLine& line, const PathWindow& window) {
  Followed all;
  PathWalk walk{window.stop_ns, 0};
  while (const auto peer = line.follow(walk, window)) all.peers.push_back(*peer);
  all.now_ns = walk.now_ns;
  all.error_ns = walk.error_ns;
  for (const profile::PathRow& row : line.rows())
    all.rows.push_back({row.key.return_address, row.place.function, row.window, row.is_program,
                        row.stretches, row.total_ns, row.calls, row.bytes});
  std::sort(all.rows.begin(), all.rows.end());
  return all;
}

// The last one: it closes the log.
TEST_CASE("a time line that was packed is followed as it is here, and read as far as it came") {
  open();
  WaitLog::begin();
  profile::CallRow rows[3] = {};
  for (std::uint64_t i = 0; i < 3; ++i) {
    rows[i].key.return_address = 100 + i;
    rows[i].place = {100 + i, 1, static_cast<std::uint32_t>(i)};
  }
  Time time{WaitLog::opened_at() + 1000};
  const std::uint64_t begin = time.now;
  for (int i = 0; i < 50; ++i) {
    for (int j = 0; j < i % 4; ++j) time.call(kCommRank, 30, &rows[1], 8, false);
    time.call(kRecv, 100'000 + 50 * i, &rows[i % 3 == 0 ? 0 : 2], 64, true);
  }
  time.call(kCommRank, 30, &rows[1], 8, false);
  WaitLog::finalizes({time.now, 200, {200, 1, 3}});
  WaitLog::close();
  SharedClock clock;
  clock.add(WaitLog::opened_at(), 5'000, 0);
  clock.add(time.now, 5'000 + (time.now - WaitLog::opened_at()) / 2, 0);

  FoundWaits found;
  WaitLog::for_each_record([&](const WaitLog::Record& record, std::uint32_t number, std::size_t) {
    if (record.row == nullptr || record.entered < begin) return;
    if (number % 3 == 0) found.unresolved.push_back(number);
    if (number % 3 != 1) return;
    FoundWait& wait = found.waits.emplace_back();
    wait.number = number;
    wait.decided_ns = clock.at(record.entered) + 40;
    wait.peer_rank = number % 5;
  });
  REQUIRE(found.waits.size() > 10);
  const std::int64_t start = clock.at(begin), stop = clock.at(time.now);
  TimeLine here(clock, found);
  const std::vector<char> packed = here.packed();
  TimeLine elsewhere(packed.data(), packed.size());
  std::uint32_t number = 0;
  for (const std::int64_t from : {start, start + (stop - start) / 3, stop - 100}) {
    const PathWindow window{number++, from, stop - static_cast<std::int64_t>(number) * 7};
    const Followed own = followed(here, window);
    CHECK(own == followed(elsewhere, window));
    CHECK(own.now_ns == from);
    CHECK(own.peers.empty() == (from == stop - 100));
  }
  CHECK(here.packed() == elsewhere.packed());
  CHECK(followed(here, {9, start, stop}).error_ns > 0);
  for (std::size_t size = 0; size < packed.size(); size += 13) {
    const std::vector<char> cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size));
    TimeLine part(cut.data(), cut.size());
    CHECK(followed(part, {0, start, stop}).now_ns == start);
  }
}

}  // namespace
}  // namespace fathom::profiler
