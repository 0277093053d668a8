// SPDX-License-Identifier: BSD-3-Clause
// Replay against the closed forms of LogGP (A. Alexandrov et al., SPAA 1995), written out in each
// test.
#include "simulator/loggops/replay.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace fathom::simulator {
namespace {

constexpr LogGops kMachine{.L = 1500, .o = 300, .g = 700, .G = 0.25, .O = 0, .S_bytes = 10000};
constexpr double kBytes = 4001;
constexpr double B = 4000 * 0.25;  // (k - 1) G

ReplayResult run(const Program& program, const LogGops& machine = kMachine) {
  auto result = replay(program, machine);
  REQUIRE_MESSAGE(result.ok(), (result.ok() ? "" : result.error().message));
  return *result;
}

bool is(double value, double expected) { return value == doctest::Approx(expected).epsilon(1e-12); }

TEST_CASE("one message takes o + (k-1)G + L + o, and its sender o") {
  Program program(2);
  Script(program, 0).send(1, kBytes);
  Script(program, 1).receive(0, kBytes);
  const ReplayResult result = run(program);
  CHECK(is(result.ranks[0].end_ns, 300));
  CHECK(is(result.ranks[1].end_ns, 300 + B + 1500 + 300));
  CHECK(is(result.ranks[1].overhead_ns, 300));
  CHECK(result.messages == 1);
  CHECK(result.bytes == kBytes);
  CHECK(result.events == 3);
}

TEST_CASE("overhead per byte adds o + kO at each end") {
  LogGops machine = kMachine;
  machine.O = 0.1;
  Program program(2);
  Script(program, 0).send(1, kBytes);
  Script(program, 1).receive(0, kBytes);
  CHECK(is(run(program, machine).end_ns, 2 * (300 + 400.1) + B + 1500));
}

TEST_CASE("the second of two messages leaves g after the last byte of the first") {
  Program program(2);
  Script sender(program, 0), receiver(program, 1);
  for (int message = 0; message < 2; ++message) {
    sender.send(1, kBytes);
    receiver.receive(0, kBytes);
  }
  CHECK(is(run(program).end_ns, 300 + B + 700 + B + 1500 + 300));
}

TEST_CASE("a ping-pong's round trip is twice 2o + L + (k-1)G") {
  Program program(2);
  Script ping(program, 0), pong(program, 1);
  for (int round = 0; round < 10; ++round) {
    ping.send(1, kBytes);
    pong.receive(0, kBytes);
    pong.send(0, kBytes);
    ping.receive(1, kBytes);
  }
  CHECK(is(run(program).end_ns, 20 * (300 + 1500 + B + 300)));
}

TEST_CASE("one round of a ring of P ranks takes P (2o + L + (k-1)G)") {
  constexpr std::uint32_t kRanks = 17;
  Program program(kRanks);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    Script script(program, rank);
    if (rank == 0) script.send(1, kBytes);
    script.receive((rank + kRanks - 1) % kRanks, kBytes);
    if (rank != 0) script.send((rank + 1) % kRanks, kBytes);
  }
  const ReplayResult result = run(program);
  CHECK(is(result.ranks[0].end_ns, kRanks * (600 + 1500 + B)));
}

// Children of a rank in the order of sending: the largest subtree first.
std::vector<std::uint32_t> binomial_children(std::uint32_t rank, std::uint32_t ranks) {
  std::vector<std::uint32_t> children;
  std::uint32_t lowest = rank == 0 ? ranks : rank & (~rank + 1);
  for (std::uint32_t bit = 1; bit < lowest && rank + bit < ranks; bit *= 2)
    children.push_back(rank + bit);
  std::reverse(children.begin(), children.end());
  return children;
}

TEST_CASE(
    "binomial broadcast: child i of a rank that has the data at t has it at t + i(g+B) + 2o + L + "
    "B") {
  constexpr std::uint32_t kRanks = 64;
  Program program(kRanks);
  std::vector<double> expected(kRanks, 0);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    Script script(program, rank);
    if (rank > 0) script.receive(rank & (rank - 1), kBytes);
    for (std::uint32_t child : binomial_children(rank, kRanks)) script.send(child, kBytes);
  }
  double last = 0;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    double departure = expected[rank] + 300;
    for (std::uint32_t child : binomial_children(rank, kRanks)) {
      expected[child] = departure + 1500 + B + 300;
      departure += 700 + B;
    }
    last = std::max(last, expected[rank]);
  }
  const ReplayResult result = run(program);
  CHECK(is(result.end_ns, last));
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    if (binomial_children(rank, kRanks).empty())
      CHECK(is(result.ranks[rank].end_ns, expected[rank]));
  }
}

void linear_all_to_all(Program& program, std::uint32_t ranks, double bytes) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Script script(program, rank);
    std::vector<OperationId> requests;
    for (std::uint32_t step = 1; step < ranks; ++step) {
      requests.push_back(script.ireceive((rank + ranks - step) % ranks, bytes));
    }
    for (std::uint32_t step = 1; step < ranks; ++step) {
      requests.push_back(script.isend((rank + step) % ranks, bytes));
    }
    script.wait_all(requests);
  }
}

TEST_CASE("a linear all-to-all takes o + (P-2)(g+B) + B + L + o if 2o <= g + B") {
  constexpr std::uint32_t kRanks = 24;
  Program program(kRanks);
  linear_all_to_all(program, kRanks, kBytes);
  LogGops machine = kMachine;
  machine.L =
      20000;  // all is sent before the first arrives: receiving takes the processor from no send
  const ReplayResult result = run(program, machine);
  const double expected = 300 + (kRanks - 2) * (700 + B) + B + 20000 + 300;
  for (const RankTimes& rank : result.ranks) CHECK(is(rank.end_ns, expected));
  CHECK(result.messages == kRanks * (kRanks - 1));
}

TEST_CASE("a rank's interface takes one of P simultaneous messages each g + B") {
  constexpr std::uint32_t kRanks = 9;
  Program program(kRanks);
  Script root(program, 0);
  std::vector<OperationId> requests;
  for (std::uint32_t rank = 1; rank < kRanks; ++rank) {
    Script(program, rank).send(0, kBytes);
    requests.push_back(root.ireceive(rank, kBytes));
  }
  root.wait_all(requests);
  CHECK(is(run(program).ranks[0].end_ns, 300 + 1500 + 7 * (700 + B) + B + 300));
}

TEST_CASE("eager messages wait for a late receiver and cost it o") {
  Program program(2);
  Script(program, 0).send(1, kBytes);
  Script late(program, 1);
  late.compute(50000);
  late.receive(0, kBytes);
  const ReplayResult result = run(program);
  CHECK(is(result.ranks[0].end_ns, 300));
  CHECK(is(result.ranks[1].end_ns, 50000 + 300));
  CHECK(is(result.ranks[1].compute_ns, 50000));
}

TEST_CASE("a rendezvous takes o + 3L + (k-1)G + o, and a late receiver delays the sender") {
  constexpr double kLong = 40001, kLongB = 10000;
  Program ready(2);
  Script(ready, 0).send(1, kLong);
  Script(ready, 1).receive(0, kLong);
  const ReplayResult result = run(ready);
  CHECK(is(result.ranks[0].end_ns, 300 + 1500 + 1500 + kLongB));
  CHECK(is(result.ranks[1].end_ns, 300 + 3 * 1500 + kLongB + 300));

  Program late(2);
  Script(late, 0).send(1, kLong);
  Script receiver(late, 1);
  receiver.compute(50000);
  receiver.receive(0, kLong);
  const ReplayResult held = run(late);
  CHECK(is(held.ranks[0].end_ns, 50000 + 1500 + kLongB));
  CHECK(is(held.ranks[1].end_ns, 50000 + 1500 + 1500 + kLongB + 300));
}

TEST_CASE("non-blocking operations overlap computation, and a message waits for the processor") {
  Program program(2);
  Script sender(program, 0), receiver(program, 1);
  const OperationId sent = sender.isend(1, 40001);
  sender.compute(5000);
  sender.wait(sent);
  const OperationId received = receiver.ireceive(0, 40001);
  receiver.compute(20000);
  receiver.wait(received);
  const ReplayResult result = run(program);
  // The request arrives at 1,800, the answer at 3,300; the last byte leaves at 13,300, arrives at
  // 14,800.
  CHECK(is(result.ranks[0].end_ns, 13300));
  CHECK(is(result.ranks[1].end_ns, 20000 + 300));
}

TEST_CASE("processors of a rank work in parallel, each in order") {
  Program program(1);
  program.compute(0, 100, 0);
  program.compute(0, 100, 0);
  const OperationId other = program.compute(0, 150, 1);
  const OperationId after = program.compute(0, 10, 1);
  program.require(after, other, When::kStarted);
  const ReplayResult result = run(program);
  CHECK(is(result.ranks[0].end_ns, 200));
  CHECK(is(result.ranks[0].compute_ns, 360));
}

TEST_CASE("operations that can never happen are named") {
  Program nobody(2);
  Script(nobody, 1).receive(0, 8, 5, 3);
  CHECK(replay(nobody, kMachine)
            .error()
            .message.find("rank 1 waits forever: it receives from rank 0, tag 5, communicator 3") !=
        std::string::npos);

  Program facing(2);  // both send by rendezvous first
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    Script script(facing, rank);
    script.send(1 - rank, 1e6);
    script.receive(1 - rank, 1e6);
  }
  CHECK(replay(facing, kMachine).error().message.find("it sends to rank 1, tag 0") !=
        std::string::npos);

  Program cycle(1);
  const OperationId one = cycle.compute(0, 1), other = cycle.compute(0, 1);
  cycle.require(one, other, When::kEnded);
  cycle.require(other, one, When::kEnded);
  CHECK(replay(cycle, kMachine).error().message.find("cycle") != std::string::npos);

  LogGops negative = kMachine;
  negative.g = -1;
  CHECK_FALSE(replay(Program(1), negative).ok());
}

TEST_CASE("messages that nobody receives are counted and delay nobody") {
  Program program(2);
  Script(program, 0).send(1, 8, 1);
  const ReplayResult result = run(program);
  CHECK(result.unreceived == 1);
  CHECK(is(result.end_ns, 300));
}

// Two senders, one receiver, links of 1 B/ns: link 0 and 1 out of the senders, link 2 into the
// receiver.
struct SharedLink {
  std::vector<LinkSpeed> speeds = {{1e9, 1e-6}, {1e9, 1e-6}, {1e9, 2e-6}};
  std::vector<std::vector<std::uint32_t>> routes = {{0, 2}, {1, 2}};
  FlowModel flows = *FlowModel::create(speeds);
  ReplayNetwork network{&flows, [this](std::uint32_t from, std::uint32_t) {
                          return std::span(std::as_const(routes[from]));
                        }};
};

TEST_CASE("two simultaneous messages share a network link and take o + latency + 2k/C + o") {
  for (const bool rendezvous : {false, true}) {
    SharedLink shared;
    LogGops machine = kMachine;
    machine.S_bytes = rendezvous ? 100 : 1e6;
    Program program(3);
    Script receiver(program, 2);
    std::vector<OperationId> requests;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      Script(program, rank).send(2, 50000);
      requests.push_back(receiver.ireceive(rank, 50000));
    }
    receiver.wait_all(requests);
    const auto result = replay(program, machine, &shared.network);
    REQUIRE(result.ok());
    const double handshake = rendezvous ? 2 * 3000 : 0;
    // Both arrive at one instant; their receives take the processor one after the other.
    CHECK(result->end_ns ==
          doctest::Approx(300 + handshake + 3000 + 100000 + 2 * 300).epsilon(1e-6));
    const double sender_end = rendezvous ? 300 + handshake + 3000 + 100000 : 300;
    CHECK(result->ranks[0].end_ns == doctest::Approx(sender_end).epsilon(1e-6));
  }
}

TEST_CASE("a small message that overtakes a large one is still matched after it") {
  SharedLink shared;
  LogGops machine = kMachine;
  machine.S_bytes = 1e6;
  Program program(3);
  Script sender(program, 0), receiver(program, 2);
  sender.isend(2, 100000);
  sender.isend(2, 10);
  receiver.receive(0, 100000);
  const ReplayResult first = *replay(program, machine, &shared.network);
  // The small flow has half the link for its 10 bytes, from 1000 + 3000 + 300 ns (its gap is 700)
  // on.
  CHECK(first.ranks[2].end_ns == doctest::Approx(300 + 3000 + 100010 + 300).epsilon(1e-6));
  CHECK(first.unreceived == 1);
}

}  // namespace
}  // namespace fathom::simulator
