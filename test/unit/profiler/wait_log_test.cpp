// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/wait_log.h"

#include <doctest/doctest.h>

#include <map>
#include <vector>

namespace fathom::profiler {
namespace {

constexpr const char* kNames[] = {"MPI_Recv", "MPI_Comm_rank"};
enum Function : std::uint32_t { kRecv, kCommRank };

// A log of this process is opened once; what tests add to it, all of them see.
void open() {
  // Several threads may be inside MPI, so that a turn taken twice by one thread never ends.
  static const bool opened = WaitLog::open(1 << 16, true, kNames, 2);
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
    const WaitLog::Sum& one = stretch.sums[i];
    sums[one.row].add(one.ticks, one.calls, one.bytes);
  }
}

TEST_CASE("no call is lost, whatever its place and however little memory there is") {
  open();
  std::vector<profile::CallRow> rows(200);
  Sums truth;
  Time time;
  for (int round = 0; round < 300; ++round) {
    for (std::size_t place = 0; place < rows.size(); ++place) {
      const bool completes = place % 3 == 0;
      // More and more of them are shorter than the threshold, which rises as memory ends.
      const std::uint64_t ticks = 100 + place * place / 4 + (completes ? 1024 : 0);
      time.call(completes ? kRecv : kCommRank, ticks, &rows[place], place, completes);
      truth[&rows[place]].add(ticks, 1, place);
    }
    WaitLog::end_stretch(time.now);
  }
  CHECK(WaitLog::threshold_ticks() > 1024);
  CHECK(WaitLog::left_out() > 0);
  Sums found;
  std::uint64_t before = 0, short_waits = 0;
  WaitLog::for_each_record([&](const WaitLog::Record& record) {
    CHECK(record.entered >= before);
    before = record.left;
    add(found, record.stretch());
    short_waits += record.short_waits;
    if (record.row != nullptr) found[record.row].add(record.left - record.entered, 1, record.bytes);
  });
  add(found, WaitLog::present_stretch());
  CHECK(short_waits + WaitLog::present_stretch().short_waits == WaitLog::left_out_ticks());
  CHECK(found == truth);
}

}  // namespace
}  // namespace fathom::profiler
