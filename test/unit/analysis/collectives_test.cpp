// SPDX-License-Identifier: BSD-3-Clause
// Algorithms recognised by their messages, and what made a collective late, on cases worked out by
// hand.
#include <doctest/doctest.h>

#include "analysis/collectives/collective_algorithms.h"
#include "analysis/collectives/collectives_view.h"
#include "test/unit/engine/joined_job.h"

namespace fathom::analysis {
namespace {

using test::MadeJob;
using Messages = std::vector<CollectiveMessage>;

TEST_CASE("a binomial tree of six from rank 1 is recognised, whatever tags the library uses") {
  const Messages messages = {{1, 2, 8, 0}, {1, 3, 8, 0}, {1, 5, 8, 0}, {2, 4, 8, 0}, {2, 0, 8, 0}};
  CHECK(recognise("MPI_Bcast", 6, 1, messages).name == "binomial tree");
  CHECK(recognise("MPI_Bcast", 6, 1, messages).rounds ==
        2);  // the root sends three times, but no chain is longer
  CHECK(recognise("MPI_Bcast", 6, 0, messages).name == "unknown");
}

TEST_CASE("a pipeline in three segments is recognised") {
  Messages messages;
  for (int segment = 0; segment < 3; ++segment) {
    for (std::uint32_t rank = 0; rank < 4; ++rank) messages.push_back({rank, rank + 1, 8, -17});
  }
  const RecognisedAlgorithm made = recognise("MPI_Bcast", 5, 0, messages);
  CHECK(made.name == "pipeline");
  CHECK(made.segments == 3);
  messages.pop_back();  // one edge lacks a segment
  CHECK(recognise("MPI_Bcast", 5, 0, messages).name == "unknown");
}

TEST_CASE("most algorithms are the same for two processes") {
  CHECK(recognise("MPI_Bcast", 2, 0, {{0, 1, 8, -17}}).name ==
        "linear or chain or pipeline or binary tree or binomial tree or k-nomial tree");
  CHECK(recognise("MPI_Barrier", 2, 0, {}).name == "none");
}

TEST_CASE("the same messages in another order belong to another algorithm") {
  const auto alltoall = [](bool forward) {
    Messages messages;
    for (std::uint32_t rank = 0; rank < 5; ++rank) {
      for (std::uint32_t i = 1; i < 5; ++i)
        messages.push_back({rank, (rank + (forward ? i : 5 - i)) % 5, 8, -13});
    }
    return messages;
  };
  CHECK(recognise("MPI_Alltoall", 5, 0, alltoall(true)).name == "pairwise");
  CHECK(recognise("MPI_Alltoall", 5, 0, alltoall(false)).name == "linear or linear with sync");
}

// The pairwise MPI_Alltoallv of Open MPI 5.0 was unknown.
TEST_CASE("a pairwise exchange that begins with a message to oneself is recognised") {
  for (const std::uint32_t first : {0u, 1u}) {
    Messages messages;
    for (std::uint32_t rank = 0; rank < 5; ++rank) {
      for (std::uint32_t i = first; i < 5; ++i) messages.push_back({rank, (rank + i) % 5, 8, -14});
    }
    CHECK(recognise("MPI_Alltoallv", 5, 0, messages).name == "pairwise");
    CHECK(recognise("MPI_Alltoallv", 5, 0, messages).rounds == 5 - first);
  }
}

TEST_CASE("a collective made of two others is recognised") {
  Messages messages;
  for (std::uint32_t rank = 1; rank < 4; ++rank) messages.push_back({rank, 0, 8, -21});
  for (std::uint32_t rank = 1; rank < 4; ++rank) messages.push_back({0, rank, 8, -17});
  CHECK(recognise("MPI_Allreduce", 4, 0, messages)
            .name.starts_with("linear or non-overlapping (MPI_Reduce: linear"));
  CHECK(recognise("MPI_Allreduce", 4, 0, messages).rounds == 2);
}

std::vector<CollectiveRow> opened(MadeJob& made) {
  JoinOptions options;
  options.hidden_messages = true;
  return open_collectives(*test::Joined(made, options));
}

void hidden(MadeJob& made, int rank, std::uint64_t time_ns, bool sent, int peer) {
  made.message(rank, time_ns, sent, peer, -17, 8).code = 1;
}

// Rank 0 to 1 to 2; each enters at its time, and passes on 10 after that or after the message,
// whichever is later.
void chain(MadeJob& made, const std::vector<std::uint64_t>& enter_ns) {
  std::uint64_t sent_ns = 0;
  for (int rank = 0; rank < 3; ++rank) {
    const std::uint64_t entered = enter_ns[static_cast<std::size_t>(rank)];
    trace::Event& event = made.enter(rank, entered, "MPI_Bcast");
    event.communicator = 0;
    event.root = 0;
    event.bytes = 8;
    const std::uint64_t arrived = std::max(entered, sent_ns) + 5;
    if (rank > 0) hidden(made, rank, arrived, false, rank - 1);
    sent_ns = arrived + 5;
    if (rank < 2) hidden(made, rank, sent_ns, true, rank + 1);
    made.leave(rank, sent_ns + 5, "MPI_Bcast");
  }
}

TEST_CASE(
    "the late edge comes from the rank that entered last, or from the root if all were there") {
  MadeJob in_time(3);
  chain(in_time, {100, 100, 100});
  const auto rows = opened(in_time);
  REQUIRE(rows.size() == 1);
  CHECK(std::string(rows[0].algorithm) == "pipeline");
  CHECK(rows[0].messages == 2);
  CHECK(rows[0].late_source == 0);
  CHECK(rows[0].late_destination == 1);
  CHECK(rows[0].inside_ns == 35);  // from 100 until rank 2 has left

  MadeJob late(3);
  chain(late, {100, 900, 100});
  const auto others = opened(late);
  CHECK(others[0].late_source == 1);
  CHECK(others[0].late_destination == 2);
  CHECK(others[0].spread_ns == 800);

  MadeJob last(3);
  chain(last, {100, 100, 900});
  CHECK(opened(last)[0].late_source == kNobody);
}

// A message of libnbc, which numbers its operations downwards.
void of_libnbc(MadeJob& made, int rank, std::uint64_t time_ns, bool sent, int peer, int operation,
               std::uint64_t bytes) {
  made.message(rank, time_ns, sent, peer, -27 - operation, bytes).code = 1;
}

void start_broadcast(MadeJob& made, int rank, std::uint64_t time_ns, int operation,
                     std::uint64_t bytes) {
  trace::Event& event = made.enter(rank, time_ns, "MPI_Ibcast");
  event.communicator = 0;
  event.root = 0;
  event.bytes = bytes;
  made.leave(rank, time_ns + 5, "MPI_Ibcast").request = static_cast<std::uint64_t>(operation);
}

TEST_CASE("concurrent non-blocking collectives are separated by the order of their tags") {
  MadeJob made(3);
  of_libnbc(made, 0, 50, true, 1, 0, 1000);  // of none of the calls
  of_libnbc(made, 1, 60, false, 0, 0, 1000);
  for (int rank = 0; rank < 3; ++rank) {
    start_broadcast(made, rank, 100, 1, 8);
    start_broadcast(made, rank, 200, 2, 64);
    made.enter(rank, 300, "MPI_Waitall");
    for (const int operation : {2, 1}) {  // the second is there first
      const std::uint64_t bytes = operation == 1 ? 8 : 64;
      const auto now_ns = static_cast<std::uint64_t>(320 - 10 * operation);
      for (const int peer : {1, 2}) {
        if (rank == 0) of_libnbc(made, 0, now_ns, true, peer, operation, bytes);
        if (rank == peer) of_libnbc(made, peer, now_ns + 5, false, 0, operation, bytes);
      }
    }
    made.complete(rank, 330, 2);
    made.complete(rank, 340, 1);
    made.leave(rank, 350, "MPI_Waitall");
  }
  const auto rows = opened(made);
  REQUIRE(rows.size() == 2);
  for (const CollectiveRow& row : rows) {
    CHECK(std::string(row.algorithm) == "linear or binomial tree or k-nomial tree");
    CHECK(row.count == 1);
    CHECK(row.messages == 2);
  }
  CHECK(rows[0].bytes == 2 * 8);
  CHECK(rows[0].inside_ns == 340 - 100);
  CHECK(rows[1].bytes == 2 * 64);
  CHECK(rows[1].inside_ns == 330 - 200);
}

TEST_CASE("an all-to-all from one buffer is recognised by the swaps of libnbc") {
  for (const std::uint32_t size : {5u, 6u}) {
    Messages in_place, linear;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      for (std::uint32_t i = 1; i < (size + 1) / 2; ++i) {
        in_place.push_back({rank, (rank + i) % size, 8, 0});
        in_place.push_back({rank, (rank + size - i) % size, 8, 0});
      }
      if (size % 2 == 0) in_place.push_back({rank, (rank + size / 2) % size, 8, 0});
      for (std::uint32_t to = 0; to < size; ++to) {
        if (to != rank) linear.push_back({rank, to, 8, 0});
      }
    }
    CHECK(recognise("MPI_Ialltoall", size, 0, in_place).name == "in place");
    CHECK(recognise("MPI_Ialltoall", size, 0, linear).name == "linear");
  }
}

TEST_CASE(
    "neighbourhood collectives send each block directly, with equal lengths where MPI says so") {
  const Messages messages = {{0, 1, 8, -10}, {0, 2, 8, -10}, {1, 0, 16, -10}};
  for (const char* operation :
       {"MPI_Neighbor_allgather", "MPI_Ineighbor_allgatherv", "MPI_Neighbor_alltoallw"}) {
    CHECK(recognise(operation, 3, 0, messages).name == "linear");
    CHECK(recognise(operation, 3, 0, messages).rounds == 1);
  }
  const Messages unequal = {{0, 1, 8, -10}, {0, 2, 16, -10}};
  CHECK(recognise("MPI_Neighbor_allgatherv", 3, 0, unequal).name == "unknown");
  CHECK(recognise("MPI_Ineighbor_alltoall", 3, 0, unequal).name == "unknown");
  CHECK(recognise("MPI_Neighbor_alltoallv", 3, 0, unequal).name == "linear");
}

TEST_CASE("tags of neighbourhood collectives are not taken for those of non-blocking collectives") {
  CHECK(!is_non_blocking_tag(-26));
  CHECK(is_non_blocking_tag(-27));
  CHECK(is_non_blocking_tag(-1073741822));   // MCA_COLL_BASE_TAG_NONBLOCKING_END
  CHECK(!is_non_blocking_tag(-1073741823));  // MCA_COLL_BASE_TAG_NEIGHBOR_BASE
}

TEST_CASE("a constructor of communicators consists of the agreements that it makes") {
  Messages messages;
  for (const int tag : {-27, -28, -29}) {
    for (const std::uint32_t rank : {1, 2}) messages.push_back({rank, 0, 4, tag});
  }
  for (const int tag : {-27, -28, -29}) {
    for (const std::uint32_t rank : {1, 2}) messages.push_back({0, rank, 4, tag});
  }
  CHECK(recognise("MPI_Comm_dup", 3, 0, messages).name == "3 x MPI_Iallreduce: binomial tree");
}

TEST_CASE("MPI_Comm_idup takes its own agreements and not those of a concurrent broadcast") {
  MadeJob made(3);
  for (int rank = 0; rank < 3; ++rank) {
    made.enter(rank, 100, "MPI_Comm_idup").communicator = 0;
    made.leave(rank, 105, "MPI_Comm_idup").request = 1;
    start_broadcast(made, rank, 110, 2, 64);
    made.enter(rank, 300, "MPI_Waitall");
  }
  for (const int operation : {1, 2, 3}) {  // up to rank 0 and down again
    const auto now_ns = std::uint64_t{300} + 20 * static_cast<std::uint64_t>(operation);
    for (const int peer : {1, 2}) of_libnbc(made, peer, now_ns, true, 0, operation, 4);
    for (const int peer : {1, 2}) of_libnbc(made, 0, now_ns + 2, false, peer, operation, 4);
    for (const int peer : {1, 2}) of_libnbc(made, 0, now_ns + 4, true, peer, operation, 4);
    for (const int peer : {1, 2}) of_libnbc(made, peer, now_ns + 6, false, 0, operation, 4);
  }
  for (const int peer : {1, 2}) of_libnbc(made, 0, 380, true, peer, 4, 64);
  for (int rank = 0; rank < 3; ++rank) {
    if (rank > 0) of_libnbc(made, rank, 385, false, 0, 4, 64);
    made.complete(rank, 390, 1);
    made.complete(rank, 390, 2);
    made.leave(rank, 395, "MPI_Waitall");
  }
  const auto rows = opened(made);
  REQUIRE(rows.size() == 2);
  const auto name = [&](const CollectiveRow& row) {
    return made.definitions.functions[row.function].name;
  };
  CHECK(name(rows[0]) == "MPI_Comm_idup");
  CHECK(std::string(rows[0].algorithm) == "3 x MPI_Iallreduce: binomial tree");
  CHECK(rows[0].messages == 12);
  CHECK(name(rows[1]) == "MPI_Ibcast");
  CHECK(rows[1].messages == 2);
  CHECK(rows[1].bytes == 2 * 64);
}

}  // namespace
}  // namespace fathom::analysis
