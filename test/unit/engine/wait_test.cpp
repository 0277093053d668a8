// SPDX-License-Identifier: BSD-3-Clause
// Wait states on jobs written by hand: how long, of which kind, caused directly by whom, and who
// caused it in the first place.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "test/unit/engine/found_waits.h"

namespace fathom::analysis {
namespace {

using test::check, test::check_edges, test::Expected, test::MadeJob, test::waits_of;

std::uint64_t random_state = 1;
std::uint64_t drawn(std::uint64_t below) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (random_state >> 33) % below;
}

TEST_CASE("a late sender is found in a blocking receive and where a request is waited for") {
  MadeJob made(2);
  made.receive(1, 100, 700, 0);
  made.send(0, 600, 610, 1);
  made.irecv(1, 1000, 7, 0);
  made.isend(0, 1600, 6, 1);
  made.wait(0, 1610, 1612, 6);
  made.wait_receive(1, 1200, 1700, 7, 0);
  const JobWaits waits = waits_of(made);
  check(waits, {{WaitKind::kLateSender, 1, 0, 500}, {WaitKind::kLateSender, 1, 0, 400}});
  REQUIRE(waits.origins.size() == 2);
  CHECK(waits.origins[0].process == 0);
  CHECK(waits.origins[0].direct_ns + waits.origins[1].direct_ns == 900);
}

TEST_CASE("MPI_Irecv does not wait for a message that arrives in it and names no request") {
  MadeJob made(2);
  MadeJob::about(made.enter(1, 100, "MPI_Irecv"), 0, 0, 8);
  made.message(1, 690, false, 0, 0, 8);
  made.leave(1, 700, "MPI_Irecv");
  made.send(0, 600, 610, 1);
  check(waits_of(made), {});
}

TEST_CASE("a probe waits for the message that is received after it") {
  MadeJob made(2);
  MadeJob::about(made.enter(1, 100, "MPI_Probe"), trace::kAnySource, trace::kAnyTag, 0);
  made.leave(1, 700, "MPI_Probe");
  made.receive(1, 710, 730, 0, 5);
  made.send(0, 600, 610, 1, 5);
  check(waits_of(made), {{WaitKind::kLateSender, 1, 0, 500}});
  CHECK(waits_of(made).rows[0].count == 1);
  check_edges(made);
}

TEST_CASE("a probe does not wait for a message whose receive had been posted before") {
  MadeJob made(2);
  made.irecv(1, 50, 7, 0, 5);
  MadeJob::about(made.enter(1, 100, "MPI_Probe"), 0, 5, 0);
  made.leave(1, 700, "MPI_Probe");
  made.receive(1, 710, 730, 0, 5);
  made.wait_receive(1, 740, 750, 7, 0, 5);
  made.send(0, 20, 30, 1, 5);
  made.send(0, 600, 610, 1, 5);
  check(waits_of(made), {{WaitKind::kLateSender, 1, 0, 500}});
  check_edges(made);
}

TEST_CASE(
    "a loop of tests and probes that fail is one wait, and more than a moment's work ends it") {
  for (const std::uint64_t pause_ns : {mpi::kLongestPoll_ns, mpi::kLongestPoll_ns + 1}) {
    CAPTURE(pause_ns);
    MadeJob made(2);
    made.irecv(1, 50, 7, 0);
    made.poll(1, 100, 110, "MPI_Test", false);
    const std::uint64_t then_ns = 110 + pause_ns;
    made.poll(1, then_ns, then_ns + 10, "MPI_Iprobe", false);
    made.arrive(1, then_ns + 90, 7, 0);
    made.poll(1, then_ns + 100, then_ns + 110, "MPI_Test", true, 7);
    made.send(0, then_ns + 80, then_ns + 81, 1);
    const std::uint64_t begin_ns = pause_ns > mpi::kLongestPoll_ns ? then_ns : 100;
    const JobWaits waits = waits_of(made);
    check(waits, {{WaitKind::kPolling, 1, 0, then_ns + 80 - begin_ns}});
    CHECK(waits.rows[0].count == 1);
    check_edges(made);
  }
}

TEST_CASE("a loop that asks whether a receive is complete waits for its message, and only once") {
  for (const bool with_peruse : {true, false}) {
    CAPTURE(with_peruse);
    MadeJob made(2);
    const auto ask = [&](std::uint64_t from_ns, bool is_complete) {
      made.enter(1, from_ns, "MPI_Request_get_status").request = 7;
      made.leave(1, from_ns + 10, "MPI_Request_get_status").flag = is_complete ? 1 : 0;
    };
    made.irecv(1, 50, 7, 0);
    ask(100, false);
    ask(200, false);
    if (with_peruse) made.arrive(1, 290, 7, 0);
    ask(300, true);
    ask(320, true);
    if (with_peruse) {
      made.wait(1, 400, 410, 7);
    } else {
      made.wait_receive(1, 400, 410, 7, 0);
    }
    made.send(0, 280, 281, 1);
    const JobWaits waits = waits_of(made);
    check(waits, {{WaitKind::kPolling, 1, 0, 180}});
    CHECK(waits.rows[0].count == 1);
    check_edges(made);
  }
}

TEST_CASE("a loop that asks for several requests waits for the last of all, or the first of any") {
  struct Case {
    const char* function;
    std::vector<std::uint64_t> found;  // requests
    std::uint32_t culprit;
    std::uint64_t ns;
  };
  const Case cases[] = {{"MPI_Request_get_status_all", {7, 8}, 1, 180},
                        {"MPI_Request_get_status_any", {7}, 0, 80},
                        {"MPI_Request_get_status_some", {7, 8}, 0, 80}};
  for (const Case& one : cases) {
    CAPTURE(one.function);
    MadeJob made(3);
    const auto ask = [&](std::uint64_t from_ns, const std::vector<std::uint64_t>& found) {
      made.enter(2, from_ns, one.function);
      for (const std::uint64_t request : found)
        made.add(2, trace::EventKind::kRequestGiven, from_ns + 5).request = request;
      made.leave(2, from_ns + 10, one.function).flag = found.empty() ? 0 : 1;
    };
    made.irecv(2, 50, 7, 0);
    made.irecv(2, 60, 8, 1);
    ask(100, {});
    ask(200, {});
    made.arrive(2, 290, 7, 0);
    made.arrive(2, 291, 8, 1);
    ask(300, one.found);
    made.wait(2, 400, 410, 7);
    made.wait(2, 420, 430, 8);
    made.send(0, 180, 181, 2);
    made.send(1, 280, 281, 2);
    check(waits_of(made), {{WaitKind::kPolling, 2, one.culprit, one.ns}});
    check_edges(made);
  }
}

TEST_CASE("a test that succeeds at once waits for nobody, and another call ends a loop") {
  MadeJob made(2);
  made.irecv(1, 50, 7, 0);
  made.poll(1, 100, 110, "MPI_Test", false);
  made.collective(1, 120, 130, "MPI_Reduce_local");
  made.arrive(1, 190, 7, 0);
  made.poll(1, 200, 210, "MPI_Test", true, 7);
  made.send(0, 180, 185, 1);
  check(waits_of(made), {});
}

TEST_CASE("a loop of probes ends with the message that is received next") {
  MadeJob made(2);
  made.poll(1, 100, 110, "MPI_Iprobe", false);
  made.poll(1, 150, 160, "MPI_Iprobe", false);
  made.poll(1, 620, 630, "MPI_Iprobe", true);
  made.receive(1, 640, 650, 0);
  made.send(0, 600, 610, 1);
  check(waits_of(made), {{WaitKind::kPolling, 1, 0, 500}});
  check_edges(made);
}

TEST_CASE("fences of each window are counted by themselves, whatever its address is") {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) {
    made.on_window(rank, 100, 110, "MPI_Win_create", rank == 0 ? 0xa0 : 0xb1);
    made.on_window(rank, 120, 130, "MPI_Win_create", rank == 0 ? 0xa1 : 0xb0);
  }
  // The second fence of rank 0 belongs to the first of rank 1.
  made.on_window(0, 200, 210, "MPI_Win_fence", 0xa0);
  made.on_window(0, 300, 510, "MPI_Win_fence", 0xa1);
  made.on_window(1, 500, 510, "MPI_Win_fence", 0xb0);
  made.on_window(1, 600, 610, "MPI_Win_fence", 0xb1);
  made.on_window(0, 700, 820, "MPI_Win_free", 0xa0);
  made.on_window(1, 800, 820, "MPI_Win_free", 0xb1);
  check(waits_of(made), {{WaitKind::kCreate, 0, 1, 100}, {WaitKind::kFence, 0, 1, 200}});
  check_edges(made);
}

TEST_CASE("in a rooted collective of an intercommunicator the root's own group does not wait") {
  MadeJob made(4);
  const int between = made.add_communicator("between", 2);
  made.definitions.communicators.back().world_ranks = {0, 1};
  made.definitions.communicators.back().remote_world_ranks = {2, 3};
  constexpr int kRoot = trace::kIsRoot, kNone = trace::kTakesNoPart;
  made.collective(0, 600, 640, "MPI_Bcast", kRoot, between);
  made.collective(1, 100, 105, "MPI_Bcast", kNone, between);
  made.collective(2, 200, 650, "MPI_Bcast", 0, between);
  made.collective(3, 700, 710, "MPI_Bcast", 0, between);
  // Rank 1 comes last, after the root has left.
  made.collective(0, 800, 950, "MPI_Reduce", kRoot, between);
  made.collective(1, 1600, 1605, "MPI_Reduce", kNone, between);
  made.collective(2, 900, 905, "MPI_Reduce", 0, between);
  made.collective(3, 850, 855, "MPI_Reduce", 0, between);
  check(waits_of(made),
        {{WaitKind::kEarlyReduce, 0, 2, 100}, {WaitKind::kLateBroadcast, 2, 0, 400}});
  check_edges(made);
}

TEST_CASE("both groups of MPI_Intercomm_create wait for the last of either") {
  MadeJob made(4);
  const int between = made.add_communicator("between", 2);
  made.definitions.communicators.back().world_ranks = {0, 1};
  made.definitions.communicators.back().remote_world_ranks = {2, 3};
  for (int rank = 0; rank < 4; ++rank) {
    made.enter(rank, rank == 2 ? 500u : 100u, "MPI_Intercomm_create").communicator = 0;
    made.leave(rank, 510, "MPI_Intercomm_create").new_communicator = between;
  }
  check(waits_of(made), {{WaitKind::kCreate, 0, 2, 400},
                         {WaitKind::kCreate, 1, 2, 400},
                         {WaitKind::kCreate, 3, 2, 400}});
  check_edges(made);
}

TEST_CASE("a neighbourhood collective waits for the neighbours that messages come from") {
  MadeJob made(3);
  made.definitions.classes.push_back("MPI_Neighbor_allgather");
  made.definitions.class_hidden.push_back(true);
  const std::string function = "MPI_Neighbor_allgather";
  const auto hidden = [&](int rank, std::uint64_t time_ns, bool sent, int peer) {
    made.message(rank, time_ns, sent, peer, -10, 8).code = 2;
  };
  // A line of three; rank 2 comes last, and rank 1 between.
  const std::uint64_t entered_ns[] = {100, 300, 600};
  for (int rank = 0; rank < 3; ++rank) {
    made.enter(rank, entered_ns[rank], function).communicator = 0;
    for (const int peer : {rank - 1, rank + 1})
      if (peer >= 0 && peer < 3) hidden(rank, entered_ns[rank] + 5, true, peer);
    for (const int peer : {rank - 1, rank + 1}) {
      if (peer < 0 || peer > 2) continue;
      const auto here = static_cast<std::size_t>(rank), there = static_cast<std::size_t>(peer);
      hidden(rank, std::max(entered_ns[here], entered_ns[there]) + 10, false, peer);
    }
    made.leave(rank, rank == 0 ? 320 : 620, function);
  }
  check(waits_of(made), {{WaitKind::kNeighbours, 0, 1, 200}, {WaitKind::kNeighbours, 1, 2, 300}});
  check_edges(made);
}

// A line of three ranks, of which rank 2 begins last. Each waits for its request, and rank 0 for
// another one before.
TEST_CASE("a non-blocking neighbourhood collective waits where its request is waited for") {
  MadeJob made(3);
  made.definitions.classes.push_back("MPI_Ineighbor_allgather");
  made.definitions.class_hidden.push_back(true);
  const std::string function = "MPI_Ineighbor_allgather";
  const auto hidden = [&](int rank, std::uint64_t time_ns, bool sent, int peer) {
    made.message(rank, time_ns, sent, peer, -30, 8).code = 2;
  };
  const std::uint64_t entered_ns[] = {100, 200, 600};
  made.irecv(0, 50, 5, 1);
  for (int rank = 0; rank < 3; ++rank) {
    made.enter(rank, entered_ns[rank], function).communicator = 0;
    for (const int peer : {rank - 1, rank + 1})
      if (peer >= 0 && peer < 3) hidden(rank, entered_ns[rank] + 1, true, peer);
    made.leave(rank, entered_ns[rank] + 10, function).request = 7;
  }
  // Rank 1's block arrives while rank 0 waits for its send.
  made.send(1, 300, 310, 0);
  made.enter(0, 150, "MPI_Wait").request = 5;
  hidden(0, 205, false, 1);
  made.arrive(0, 340, 5, 1);
  made.complete(0, 341, 5);
  made.leave(0, 342, "MPI_Wait");
  made.enter(0, 400, "MPI_Wait").request = 7;
  made.complete(0, 404, 7);
  made.leave(0, 405, "MPI_Wait");
  made.enter(1, 400, "MPI_Wait").request = 7;
  hidden(1, 405, false, 0);
  hidden(1, 620, false, 2);
  made.complete(1, 625, 7);
  made.leave(1, 630, "MPI_Wait");
  made.enter(2, 650, "MPI_Wait").request = 7;
  hidden(2, 655, false, 1);
  made.complete(2, 656, 7);
  made.leave(2, 660, "MPI_Wait");
  check(waits_of(made), {{WaitKind::kLateSender, 0, 1, 150}, {WaitKind::kNeighbours, 1, 2, 200}});
  check_edges(made);
}

// Rank 0 only sends to rank 1, which sends nothing and so does not show which of its calls the message
// belongs to; and rank 1 never waits for its request.
TEST_CASE("a neighbourhood collective whose request nobody waits for passes on what arrives") {
  for (const bool sends : {false, true}) {
    CAPTURE(sends);
    MadeJob made(2);
    made.definitions.classes.push_back("MPI_Ineighbor_allgather");
    made.definitions.class_hidden.push_back(true);
    const std::string function = "MPI_Ineighbor_allgather";
    for (int rank = 0; rank < 2; ++rank) {
      made.enter(rank, rank == 0 ? 300 : 100, function).communicator = 0;
      if (rank == 0 || sends)
        made.message(rank, rank == 0 ? 301 : 101, true, 1 - rank, -30, 8).code = 2;
      made.leave(rank, rank == 0 ? 310 : 110, function).request = 7;
    }
    made.enter(1, 200, "MPI_Test").request = 7;
    made.message(1, 320, false, 0, -30, 8).code = 2;
    made.leave(1, 330, "MPI_Test").flag = 0;
    check(waits_of(made), {});
    check_edges(made);
  }
}

TEST_CASE("all processes wait in MPI_Init and MPI_Finalize for the last to enter, and work after") {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) {
    made.enter(rank, rank == 0 ? 0 : 300, "MPI_Init");
    made.leave(rank, 1000, "MPI_Init");
    made.enter(rank, rank == 0 ? 2000 : 1100, "MPI_Finalize");
    made.leave(rank, 2500, "MPI_Finalize");
  }
  check(waits_of(made), {{WaitKind::kInit, 0, 1, 300}, {WaitKind::kFinalize, 1, 0, 900}});
  check_edges(made);
}

TEST_CASE("a collective that was left before the last member entered did not wait for it") {
  MadeJob made(2);
  made.collective(0, 100, 110, "MPI_Barrier");
  made.collective(1, 500, 510, "MPI_Barrier");
  check(waits_of(made), {});
}

// A job of two processes whose threads each talk to a thread of the other process, now and then to
// another one, and meet in barriers on a communicator of their own.
void talk_in_threads(MadeJob& made, std::uint64_t seed, int threads, int rounds) {
  random_state = seed;
  std::vector<std::array<std::uint64_t, 2>> now(static_cast<std::size_t>(threads), {1000, 1000});
  for (int thread = 0; thread < threads; ++thread) made.add_communicator("own", 2);
  const auto on = [](trace::Event& event, int thread) -> trace::Event& {
    event.thread = static_cast<std::uint32_t>(thread);
    return event;
  };
  for (int round = 0; round < rounds; ++round) {
    for (int thread = 0; thread < threads; ++thread) {
      auto& here = now[static_cast<std::size_t>(thread)];
      const int other = (thread + (round % 3 == 0 ? 1 : 0)) % threads;
      auto& there = now[static_cast<std::size_t>(other)];
      const int from = round % 2, to = 1 - from, tag = 10 * thread + other;
      const std::uint64_t sent = here[static_cast<std::size_t>(from)] += drawn(400);
      MadeJob::about(on(made.enter(from, sent, "MPI_Send"), thread), to, tag, 8);
      on(made.message(from, sent + 1, true, to, tag, 8), thread);
      on(made.leave(from, sent + 2, "MPI_Send"), thread);
      here[static_cast<std::size_t>(from)] += 3;
      const std::uint64_t asked = there[static_cast<std::size_t>(to)] += drawn(400);
      const std::uint64_t got = std::max(asked, sent) + 5;
      MadeJob::about(on(made.enter(to, asked, "MPI_Recv"), other), from, tag, 8);
      on(made.message(to, got - 1, false, from, tag, 8), other);
      on(made.leave(to, got, "MPI_Recv"), other);
      there[static_cast<std::size_t>(to)] = got + 1;
      if (round % 5 != 4) continue;
      const std::uint64_t last = std::max(here[0], here[1]) + 2;
      for (int rank = 0; rank < 2; ++rank) {
        const std::uint64_t entered = here[static_cast<std::size_t>(rank)];
        on(made.enter(rank, entered, "MPI_Barrier"), thread).communicator = thread + 1;
        on(made.leave(rank, last, "MPI_Barrier"), thread);
        here[static_cast<std::size_t>(rank)] = last + 1;
      }
    }
  }
}

TEST_CASE("threads that wait at the same time cause no more than was waited") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    MadeJob made(2);
    for (trace::Process& process : made.definitions.processes) process.threads = {"main", "a", "b"};
    talk_in_threads(made, seed, 3, 60);
    const JobWaits waits = waits_of(made);
    std::uint64_t waited_ns = 0, direct_ns = 0;
    for (const WaitRow& row : waits.rows) waited_ns += row.ns;
    for (const OriginRow& row : waits.origins) {
      CHECK(row.direct_ns + row.indirect_ns <= waited_ns);
      direct_ns += row.direct_ns;
    }
    CHECK(waited_ns > 0);
    CHECK(direct_ns <= waited_ns);
  }
}

TEST_CASE("a message already there, and a test, are not waits") {
  MadeJob made(2);
  made.send(0, 100, 110, 1);
  made.receive(1, 500, 520, 0);
  made.send(0, 900, 910, 1);
  made.irecv(1, 600, 7, 0);
  made.enter(1, 700, "MPI_Test").request = 7;
  made.arrive(1, 950, 7, 0);
  made.complete(1, 955, 7);
  made.leave(1, 960, "MPI_Test");
  check(waits_of(made), {});
}

TEST_CASE("a late receiver is found in a send that had to wait, and only there") {
  MadeJob made(2);
  made.send(0, 100, 650, 1, 0, 1 << 20);
  made.receive(1, 600, 660, 0, 0, 1 << 20);
  made.send(0, 1000, 1010, 1);  // eager
  made.receive(1, 1600, 1610, 0);
  check(waits_of(made), {{WaitKind::kLateReceiver, 0, 1, 500}});
}

TEST_CASE("waiting for all ends with the last message, waiting for any with the first") {
  for (const bool all : {true, false}) {
    MadeJob made(3);
    made.irecv(0, 10, 5, 1);
    made.irecv(0, 20, 6, 2);
    const std::string function = all ? "MPI_Waitall" : "MPI_Waitsome";
    made.enter(0, 100, function);
    made.arrive(0, 310, 5, 1);
    made.arrive(0, 510, 6, 2);
    made.complete(0, 520, 5);
    made.complete(0, 520, 6);
    made.leave(0, 530, function);
    made.send(1, 300, 305, 0);
    made.send(2, 500, 505, 0);
    check(waits_of(made), {{WaitKind::kLateSender, 0, all ? 2u : 1u, all ? 400u : 200u}});
  }
}

TEST_CASE("waiting for any ends with the send of the first that could complete") {
  // Of three messages the second to be sent completes; the first is long, and the third is later.
  for (const bool named : {true, false}) {
    CAPTURE(named);
    MadeJob made(4);
    for (std::uint64_t request = 5; request <= 7; ++request)
      made.irecv(0, 10 * request - 40, request, static_cast<int>(request) - 4);
    made.enter(0, 100, "MPI_Waitany");
    made.arrive(0, 510, 6, 2);
    for (const std::uint64_t request : {5, 7})
      if (named) made.add(0, trace::EventKind::kRequestGiven, 520).request = request;
    made.complete(0, 520, 6);
    made.leave(0, 530, "MPI_Waitany");
    made.wait_receive(0, 900, 910, 5, 1);
    made.wait_receive(0, 920, 930, 7, 3);
    made.send(1, 300, 305, 0);
    made.send(2, 500, 505, 0);
    made.send(3, 800, 805, 0);
    check(waits_of(made), {{WaitKind::kLateSender, 0, named ? 1u : 2u, named ? 200u : 400u}});
  }
}

TEST_CASE("waiting for any waits for nobody if something that could complete was there") {
  MadeJob made(3);
  made.irecv(0, 10, 5, 1, 0, 1 << 20);
  made.irecv(0, 20, 6, 2);
  made.enter(0, 100, "MPI_Waitsome");
  made.arrive(0, 510, 6, 2);
  made.add(0, trace::EventKind::kRequestGiven, 520).request = 5;
  made.complete(0, 520, 6);
  made.leave(0, 530, "MPI_Waitsome");
  made.wait_receive(0, 900, 910, 5, 1, 0, 1 << 20);
  made.send(1, 50, 905, 0, 0, 1 << 20);
  made.send(2, 500, 505, 0);
  for (const WaitRow& row : waits_of(made).rows) CHECK(row.process != 0);
}

TEST_CASE("a wrong order is found where another message was sent earlier and taken later") {
  MadeJob made(2);
  made.send(0, 100, 110, 1, 1);
  made.send(0, 600, 610, 1, 2);
  made.receive(1, 200, 620, 0, 2);
  made.receive(1, 630, 640, 0, 1);
  check(waits_of(made), {{WaitKind::kWrongOrder, 1, 0, 400}});
}

TEST_CASE("a neighbour one iteration ahead is not a wrong order") {
  MadeJob made(3);
  for (int rank = 0; rank < 3; ++rank) made.collective(rank, 0, 10, "MPI_Barrier");
  made.send(0, 100, 110, 2, 1);
  made.send(0, 500, 510, 2, 2);  // of the next iteration, sent while rank 2 waits for rank 1
  made.send(1, 900, 910, 2, 1);
  made.receive(2, 200, 210, 0, 1);
  made.receive(2, 210, 920, 1, 1);
  made.receive(2, 1000, 1010, 0, 2);
  made.send(0, 1020, 1025, 2, 3);  // nor a message already there that is not the next to be taken
  made.send(1, 1500, 1510, 2, 2);
  made.receive(2, 1100, 1520, 1, 2);
  made.send(1, 1600, 1610, 2, 4);
  made.receive(2, 1590, 1620, 1, 4);
  made.receive(2, 1700, 1710, 0, 3);
  check(waits_of(made),
        {{WaitKind::kLateSender, 2, 1, 690 + 400}, {WaitKind::kWrongOrder, 2, 1, 10}});
}

TEST_CASE("waits in collectives are attributed to the late members") {
  struct Case {
    std::string function;
    int root;
    std::vector<Expected> expected;
  };
  // Entered at 100, 400, 200 and all left at 500.
  const std::vector<Case> cases = {
      {"MPI_Barrier", -1, {{WaitKind::kBarrier, 0, 1, 300}, {WaitKind::kBarrier, 2, 1, 200}}},
      {"MPI_Allreduce", -1, {{WaitKind::kAllToAll, 0, 1, 300}, {WaitKind::kAllToAll, 2, 1, 200}}},
      {"MPI_Bcast",
       1,
       {{WaitKind::kLateBroadcast, 0, 1, 300}, {WaitKind::kLateBroadcast, 2, 1, 200}}},
      {"MPI_Scatter",
       1,
       {{WaitKind::kEarlyScatter, 0, 1, 300}, {WaitKind::kEarlyScatter, 2, 1, 200}}},
      {"MPI_Reduce", 0, {{WaitKind::kEarlyReduce, 0, 1, 300}}},
      {"MPI_Gather", 2, {{WaitKind::kEarlyGather, 2, 1, 200}}},
      {"MPI_Scan", -1, {{WaitKind::kEarlyScan, 2, 1, 200}}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.function);
    MadeJob made(3);
    made.collective(0, 100, 500, one.function, one.root);
    made.collective(1, 400, 500, one.function, one.root);
    made.collective(2, 200, 500, one.function, one.root);
    check(waits_of(made), one.expected);
  }
}

TEST_CASE("a member that left a broadcast before the root entered stopped waiting then") {
  MadeJob made(2);
  made.collective(0, 100, 150, "MPI_Reduce", 1);
  made.collective(1, 120, 900, "MPI_Reduce", 1);
  check(waits_of(made), {});
}

TEST_CASE("the wait for a non-blocking collective is in the call that completes it") {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) {
    const std::uint64_t begin = rank == 0 ? 100 : 700;
    trace::Event& enter = made.enter(rank, begin, "MPI_Iallreduce");
    enter.communicator = 0;
    made.leave(rank, begin + 10, "MPI_Iallreduce").request = 9;
    made.wait(rank, begin + 100, 820, 9);
  }
  check(waits_of(made), {{WaitKind::kAllToAll, 0, 1, 500}});
}

TEST_CASE("waits shorter than the clock error are ignored") {
  for (const bool one_host : {true, false}) {
    MadeJob made(2);
    if (!one_host) made.definitions.processes[1].host = "n2";
    made.receive(1, 100, 700, 0);  // waits 500
    made.send(0, 600, 610, 1);
    made.receive(1, 1000, 1300, 0);
    made.send(0, 2000, 2010, 1);  // arrives 702 before it is sent: clocks differ by at least that
    made.receive(1, 3000, 4600, 0);  // waits 1500
    made.send(0, 4500, 4510, 1);
    std::uint64_t ns = 0;
    for (const WaitRow& row : waits_of(made).rows) ns += row.ns;
    CHECK(ns == (one_host ? 500 + 299 + 1500 : 1500));
  }
}

// A delay of rank 0 travels down a line: 1 waits for it, then 2 for 1, then 3 for 2, each after as
// much work as all.
MadeJob line_of(int ranks) {
  MadeJob made(ranks);
  for (int rank = 0; rank < ranks; ++rank) made.collective(rank, 0, 10, "MPI_Barrier");
  constexpr std::uint64_t kWork = 1000, kDelay = 5000;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto who = static_cast<std::uint64_t>(rank);
    const std::uint64_t ready = 10 + kWork + (rank == 0 ? kDelay : 0);
    std::uint64_t now = ready;
    if (rank > 0) {
      const std::uint64_t sent = 10 + kWork + kDelay + who * kWork - kWork;  // by the one before
      made.receive(rank, ready, sent + 2, rank - 1);
      now = sent + kWork;
    }
    if (rank + 1 < ranks) made.send(rank, now, now + 1, rank + 1);
  }
  return made;
}

TEST_CASE("a delay that propagates is attributed to where it began") {
  MadeJob made = line_of(4);
  const JobWaits waits = waits_of(made);
  std::map<std::uint32_t, std::uint64_t> waited;
  for (const WaitRow& row : waits.rows) {
    CHECK(row.culprit == row.process - 1);  // whom it waited for
    waited[row.process] += row.ns;
  }
  CHECK(waited == std::map<std::uint32_t, std::uint64_t>{{1, 5000}, {2, 6000}, {3, 7000}});
  std::map<std::uint32_t, std::uint64_t> caused;
  std::uint64_t sum = 0;
  for (const OriginRow& row : waits.origins) {
    caused[row.process] += row.direct_ns + row.indirect_ns;
    sum += row.direct_ns + row.indirect_ns;
  }
  // 5000 of each wait are rank 0's; the rest is the second round of work of those in between.
  CHECK(sum >= 18000 - 10);
  CHECK(sum <= 18000);
  CHECK(caused[0] >= 14900);
  CHECK(caused[0] <= 15100);
  CHECK(caused[3] == 0);
  CHECK(waits.released == 0);
}

TEST_CASE("the latecomer's longest work may lie before an earlier call than the late one") {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) made.collective(rank, 0, 10, "MPI_Barrier");
  made.irecv(0, 900, 7, 1);  // after 890 ns of work
  made.send(1, 20, 25, 0);
  made.wait_receive(0, 903, 906, 7, 1);
  made.collective(0, 910, 920, "MPI_Allreduce");
  made.collective(1, 30, 920, "MPI_Allreduce");
  const JobWaits waits = waits_of(made);
  REQUIRE(waits.origins.size() == 1);
  const OriginRow& row = waits.origins[0];
  CHECK(row.process == 0);
  CHECK(made.definitions.functions[row.function].name == "MPI_Allreduce");
  CHECK(row.meanwhile.work_ns == 870);  // of 890 ns: rank 1 waits from 30 on
  CHECK(made.definitions.functions[row.meanwhile.work_after].name == "MPI_Barrier");
  CHECK(made.definitions.functions[row.meanwhile.work_before].name == "MPI_Irecv");
  CHECK(row.meanwhile.work_before_site == 0x1000 + row.meanwhile.work_before);
}

TEST_CASE("each wait says whether its culprit worked between two calls or was in one") {
  MadeJob made(3);
  for (int rank = 0; rank < 3; ++rank) made.collective(rank, 0, 10, "MPI_Barrier");
  // Rank 1 works until 500, posts a receive, works until 600 and sends. Rank 0 waits for that from
  // 100 on.
  made.irecv(1, 500, 7, 2, 9);
  made.send(1, 600, 610, 0);
  made.receive(0, 100, 620, 1);
  // Rank 2 waits for rank 0, which waited itself, worked for 20 and sends a long message that rank
  // 2 takes late.
  made.receive(2, 90, 650, 0, 1);
  made.send(0, 640, 645, 2, 1);
  made.send(0, 700, 1010, 2, 2, 1 << 20);
  made.receive(2, 1000, 1020, 0, 2, 1 << 20);
  const JobWaits waits = waits_of(made);
  check(waits, {{WaitKind::kLateSender, 0, 1, 500},
                {WaitKind::kLateReceiver, 0, 2, 300},
                {WaitKind::kLateSender, 2, 0, 550}});
  const auto name = [&](std::uint32_t function) {
    return made.definitions.functions[function].name;
  };
  const LongestStretch &sender = waits.rows[0].meanwhile, &receiver = waits.rows[1].meanwhile,
                       &itself = waits.rows[2].meanwhile;
  CHECK(sender.work_ns == 400);  // of 490: rank 0 came at 100
  CHECK(name(sender.work_after) == "MPI_Barrier");
  CHECK(name(sender.work_before) == "MPI_Irecv");
  CHECK(sender.work_before_site == 0x1000 + sender.work_before);
  CHECK(name(waits.rows[0].late_for) == "MPI_Send");
  CHECK(receiver.work_ns == 300);  // of 350
  CHECK(name(receiver.work_after) == "MPI_Recv");
  CHECK(name(receiver.work_before) == "MPI_Recv");
  CHECK(name(waits.rows[1].late_for) == "MPI_Recv");
  CHECK(itself.call_ns == 520);
  CHECK(name(itself.call) == "MPI_Recv");
  CHECK(itself.work_ns == 20);  // from 620 to 640
}

TEST_CASE("a choice of time and processes limits what counts, not who is to blame") {
  MadeJob made = line_of(4);
  WaitScope scope;
  std::vector<bool> processes = {false, false, true, false};
  scope.processes = &processes;
  const JobWaits waits = waits_of(made, scope);
  REQUIRE(waits.rows.size() == 1);
  CHECK(waits.rows[0].process == 2);
  scope = {};
  scope.from_ns = 1'000'000;
  CHECK(waits_of(made, scope).rows.empty());
}

TEST_CASE("a trace whose times contradict each other is analysed to the end") {
  MadeJob made(2);
  // Each is blamed for a wait that comes before the one it has to answer for.
  made.definitions.processes[1].host = "n2";
  made.receive(0, 100, 900, 1, 1);
  made.send(0, 910, 920, 1, 2);
  made.receive(1, 100, 900, 0, 2);
  made.send(1, 910, 920, 0, 1);
  const JobWaits waits = waits_of(made);
  CHECK(waits.rows.size() <= 2);
}

}  // namespace
}  // namespace fathom::analysis
