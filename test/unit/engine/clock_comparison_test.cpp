// SPDX-License-Identifier: BSD-3-Clause
// Clocks compared by what messages and collectives bound.
#include "trace/join/clock_comparison.h"

#include <doctest/doctest.h>

#include <cstdint>

#include "test/unit/base/scratch_folder.h"
#include "test/unit/engine/made_job.h"

namespace fathom::test {
namespace {

trace::ClockComparison compared(MadeJob& made) {
  Scratch scratch;
  return trace::compare_clocks(made.written(scratch.path()));
}

std::int64_t between(const trace::ClockComparison& clocks, std::size_t a, std::size_t b) {
  return clocks.offsets[b].offset_ns - clocks.offsets[a].offset_ns;
}

// MadeJob sends 1 ns after the call begins and receives 1 ns before it ends.
constexpr std::uint64_t kBegin = 1, kEnd = 1;

TEST_CASE("clocks that agree with all messages stay as they are") {
  MadeJob made(2);
  made.send(0, 100, 110, 1);
  made.receive(1, 90, 200, 0);
  made.send(1, 300, 310, 0);
  made.receive(0, 290, 400, 1);
  const auto clocks = compared(made);
  CHECK(clocks.contradictions == 0);
  CHECK(clocks.worst_ns == 0);
}

TEST_CASE("messages both ways bound a clock, and the middle of the bounds is taken") {
  constexpr std::uint64_t kAhead = 1'000'000;  // rank 1's clock
  MadeJob made(2);
  made.send(0, 1000, 1010, 1);
  made.receive(1, kAhead + 900, kAhead + 1100, 0);  // 98 after it was sent
  made.send(1, kAhead + 2000, kAhead + 2010, 0);
  made.receive(0, 1900, 2300, 1);  // 298 after it was sent
  const auto clocks = compared(made);
  CHECK(clocks.contradictions == 1);
  CHECK(clocks.worst_ns == kAhead + 2000 + kBegin - (2300 - kEnd));
  CHECK(clocks.left_ns == 0);
  CHECK(between(clocks, 0, 1) == -static_cast<std::int64_t>(kAhead) + (298 - 98) / 2);
  CHECK(clocks.offsets[1].uncertainty_ns == (298 + 98) / 2);
  CHECK(clocks.offsets[1].bounded);
}

TEST_CASE("a barrier bounds the clocks of all that take part") {
  MadeJob made(3);
  const std::int64_t ahead[] = {0, 50'000, -20'000};
  for (int rank = 0; rank < 3; ++rank) {
    const auto shift = static_cast<std::uint64_t>(100'000 + ahead[rank]);
    made.collective(rank, shift + 100 + static_cast<std::uint64_t>(rank), shift + 110,
                    "MPI_Barrier");
  }
  const auto clocks = compared(made);
  CHECK(clocks.contradictions > 0);
  for (std::size_t rank = 1; rank < 3; ++rank) {
    CHECK(clocks.offsets[rank].bounded);
    CHECK(std::abs(between(clocks, 0, rank) + ahead[rank]) <= 10);
    CHECK(clocks.offsets[rank].uncertainty_ns <= 10);
  }
}

TEST_CASE("a clock bounded from one side moves no further than it must") {
  MadeJob made(2);
  made.send(1, 5000, 5010, 0);
  made.receive(0, 900, 1000, 1);
  const auto clocks = compared(made);
  CHECK(clocks.contradictions == 1);
  CHECK(between(clocks, 0, 1) ==
        (1000 - static_cast<std::int64_t>(kEnd)) - (5000 + static_cast<std::int64_t>(kBegin)));
  CHECK_FALSE(clocks.offsets[1].bounded);
}

TEST_CASE("clocks that drift keep the least contradiction that offsets leave") {
  MadeJob made(2);
  made.send(1, 1000, 1010, 0);
  made.receive(0, 600, 702, 1);    // 300 early
  made.receive(1, 8700, 8802, 0);  // 200 early
  made.send(0, 9000, 9010, 1);
  const auto clocks = compared(made);
  CHECK(clocks.contradictions == 2);
  CHECK(clocks.worst_ns == 300);
  CHECK(clocks.left_ns == 250);
  CHECK(clocks.offsets[1].uncertainty_ns == 250);
}

TEST_CASE("processes that exchange nothing keep their clocks, and are not bounded") {
  MadeJob made(3);
  made.send(1, 5000, 5010, 0);
  made.receive(0, 900, 1000, 1);
  made.enter(2, 10, "MPI_Wait");
  made.leave(2, 20, "MPI_Wait");
  const auto clocks = compared(made);
  CHECK_FALSE(clocks.offsets[2].bounded);
  CHECK(clocks.offsets[2].offset_ns == clocks.offsets[0].offset_ns);
}

}  // namespace
}  // namespace fathom::test
