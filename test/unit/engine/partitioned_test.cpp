// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication: who waits for a partition, and for how long.
#include <doctest/doctest.h>

#include <limits>

#include "test/unit/engine/found_waits.h"

namespace fathom::analysis {
namespace {

using test::check, test::check_edges, test::MadeJob, test::waits_of;

constexpr std::uint64_t kSend = 0x50, kReceive = 0x60;
constexpr int kFirstTag = std::numeric_limits<std::int32_t>::min();

void initialise(MadeJob& made, int rank, bool sends) {
  const char* const function = sends ? "MPI_Psend_init" : "MPI_Precv_init";
  MadeJob::about(made.enter(rank, 10, function), 1 - rank, 3, 16);
  made.leave(rank, 20, function).request = sends ? kSend : kReceive;
}

// The library's own request is another one.
void partition(MadeJob& made, int rank, std::uint64_t time_ns, int number, bool sent) {
  trace::Event& event =
      made.message(rank, time_ns, sent, 1 - rank, kFirstTag + number, 8, sent ? 0 : 0x1000);
  event.code = 2;
  event.object = sent ? kSend : kReceive;
}

void hand_over(MadeJob& made, std::uint64_t from_ns, int number) {
  made.enter(1, from_ns, "MPI_Pready").request = kSend;
  partition(made, 1, from_ns + 5, number, true);
  made.leave(1, from_ns + 10, "MPI_Pready");
}

// Rank 1 has the second of two partitions at 600.
MadeJob with_late_partition(int ranks = 2) {
  MadeJob made(ranks);
  made.definitions.classes.emplace_back("partitioned");
  made.definitions.class_hidden.push_back(true);
  for (const int rank : {0, 1}) initialise(made, rank, rank == 1);
  made.start(0, 90, kReceive);
  made.start(1, 90, kSend);
  hand_over(made, 120, 0);
  hand_over(made, 600, 1);
  made.wait(1, 620, 630, kSend);
  return made;
}

TEST_CASE("a partitioned receive waits for the call that hands over the last partition") {
  MadeJob made = with_late_partition();
  made.enter(0, 100, "MPI_Wait").request = kReceive;
  partition(made, 0, 140, 0, false);
  partition(made, 0, 640, 1, false);
  made.complete(0, 645, kReceive);
  made.leave(0, 650, "MPI_Wait");
  check(waits_of(made), {{WaitKind::kLateSender, 0, 1, 500}});
  check_edges(made);
}

TEST_CASE("a loop that asks for a partition waits for it, and the call that completes does not") {
  MadeJob made = with_late_partition();
  made.poll(0, 100, 110, "MPI_Parrived", false);
  made.enter(0, 120, "MPI_Parrived").request = kReceive;
  partition(made, 0, 140, 0, false);
  made.leave(0, 150, "MPI_Parrived").flag = 0;
  made.enter(0, 160, "MPI_Parrived").request = kReceive;
  partition(made, 0, 640, 1, false);
  made.leave(0, 650, "MPI_Parrived").flag = 1;
  made.wait(0, 660, 670, kReceive);
  check(waits_of(made), {{WaitKind::kPolling, 0, 1, 500}});
  check_edges(made);
}

TEST_CASE("partitions that arrive in another call are no wait of that call") {
  MadeJob made = with_late_partition(3);
  MadeJob::about(made.enter(0, 100, "MPI_Recv"), 2, 7, 8);
  partition(made, 0, 140, 0, false);
  partition(made, 0, 640, 1, false);
  made.message(0, 699, false, 2, 7, 8);
  made.leave(0, 700, "MPI_Recv");
  made.wait(0, 710, 720, kReceive);
  made.send(2, 300, 310, 0, 7);
  check(waits_of(made), {{WaitKind::kLateSender, 0, 2, 200}});
}

TEST_CASE("partitions of an operation that the trace does not know are the library's") {
  MadeJob made = with_late_partition();
  made.enter(0, 100, "MPI_Barrier");
  trace::Event& event = made.message(0, 640, false, 1, kFirstTag + 1, 8, 0x1000);
  event.code = 2;
  event.object = 0x99;
  made.leave(0, 650, "MPI_Barrier");
  check(waits_of(made), {});
}

}  // namespace
}  // namespace fathom::analysis
