// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives: joined from the call that starts them to the one that completes them.
#include <doctest/doctest.h>

#include "test/unit/engine/found_waits.h"

namespace fathom::analysis {
namespace {

using test::check, test::check_edges, test::MadeJob, test::waits_of;

void start_and_wait(MadeJob& made, int rank, std::uint64_t from_ns, std::uint64_t to_ns,
                    std::uint64_t request) {
  made.start(rank, from_ns, request);
  made.wait(rank, from_ns + 10, to_ns, request);
}

TEST_CASE("the wait for a persistent collective waits for the last member to start it") {
  MadeJob made(3);
  for (int rank = 0; rank < 3; ++rank) made.make_persistent(rank, 10, "MPI_Allreduce_init", 0x10);
  for (const std::uint64_t from_ns : {1000, 3000}) {
    for (const int rank : {0, 2}) start_and_wait(made, rank, from_ns, from_ns + 530, 0x10);
    start_and_wait(made, 1, from_ns + 500, from_ns + 530, 0x10);
  }
  check(waits_of(made),
        {{WaitKind::kAllToAll, 0, 1, 2 * 490}, {WaitKind::kAllToAll, 2, 1, 2 * 490}});
  check_edges(made);
}

TEST_CASE("members of a persistent broadcast wait for its root") {
  MadeJob made(3);
  for (int rank = 0; rank < 3; ++rank) made.make_persistent(rank, 10, "MPI_Bcast_init", 0x10, 1);
  start_and_wait(made, 0, 100, 630, 0x10);
  start_and_wait(made, 1, 600, 630, 0x10);
  start_and_wait(made, 2, 700, 730, 0x10);
  check(waits_of(made), {{WaitKind::kLateBroadcast, 0, 1, 490}});
  check_edges(made);
}

TEST_CASE("members may start persistent collectives of one communicator in any order") {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) {
    made.make_persistent(rank, 10, "MPI_Allreduce_init", 0x10);
    made.make_persistent(rank, 20, "MPI_Barrier_init", 0x20);
  }
  made.start(0, 100, 0x10);
  made.start(0, 110, 0x20);
  made.wait(0, 120, 430, 0x20);
  made.wait(0, 440, 730, 0x10);
  made.start(1, 400, 0x20);
  made.start(1, 700, 0x10);
  made.wait(1, 710, 720, 0x20);
  made.wait(1, 725, 730, 0x10);
  check(waits_of(made), {{WaitKind::kBarrier, 0, 1, 280}, {WaitKind::kAllToAll, 0, 1, 260}});
  check_edges(made);
}

}  // namespace
}  // namespace fathom::analysis
