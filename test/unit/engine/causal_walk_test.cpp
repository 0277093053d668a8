// SPDX-License-Identifier: BSD-3-Clause
// The causal walk passes values to the steps that depend on them, forward and backward, and never
// blocks for ever.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "analysis/engine/causal_walk.h"
#include "analysis/engine/parcels.h"
#include "test/unit/engine/joined_job.h"

namespace fathom::analysis {
namespace {

using test::MadeJob;

// The docs' example: the longest chain of messages that ends at each process.
class LongestChain {
 public:
  struct Payload {
    std::uint64_t messages = 0;
  };
  explicit LongestChain(std::size_t processes) : messages(processes) {}

  void step(std::uint32_t, std::uint32_t, const Step&) {}
  Payload give(std::uint32_t process, const Step& part) {
    return {messages[process] + (part.kind == StepKind::kCollective ? 0 : 1)};
  }
  void take(std::uint32_t process, const Step&, const Payload& payload) {
    messages[process] = std::max(messages[process], payload.messages);
  }
  static void merge(Payload& into, const Payload& other) {
    into.messages = std::max(into.messages, other.messages);
  }

  std::vector<std::uint64_t> messages;
};

std::vector<std::uint64_t> chains(MadeJob& made, Direction direction,
                                  std::uint64_t expected_releases = 0) {
  const test::Joined job(made);
  LongestChain chain(job->mapping().size());
  CHECK(walk_causally(*job, chain, direction) == expected_releases);
  return chain.messages;
}

using Chains = std::vector<std::uint64_t>;

TEST_CASE("a large parcel arrives as it was sent, even if parts of it are zero") {
  struct Small {
    std::uint32_t number = 0;
  };
  struct Large {
    std::uint32_t first = 0, second = 0;
    std::uint64_t words[70] = {};
  };
  Large empty, full, some;
  for (std::uint64_t& word : full.words) word = ~std::uint64_t{0};
  full.first = some.second = some.words[0] = some.words[69] = 7;
  Parcels parcels(2);
  for (const Large& each : {empty, full, some}) {
    parcels.send(1, 'a', each);
    parcels.send(1, 'b', Small{each.first});
  }
  const auto bytes = parcels.take()[1];
  CHECK(bytes.size() < 2 * sizeof(Large));
  Received received(bytes);
  for (const Large& each : {empty, full, some}) {
    REQUIRE(received.kind() == 'a');
    const auto large = received.take<Large>();
    CHECK((large.first == each.first && large.second == each.second));
    CHECK(std::equal(std::begin(large.words), std::end(large.words), std::begin(each.words)));
    REQUIRE(received.kind() == 'b');
    CHECK(received.take<Small>().number == each.first);
  }
  CHECK(!received.more());
}

TEST_CASE("a chain of messages is walked forward and backward") {
  MadeJob made(3);
  made.send(0, 10, 20, 1);
  made.receive(1, 5, 30, 0);
  made.isend(1, 40, 9, 2);
  made.wait(1, 45, 47, 9);
  made.irecv(2, 1, 7, 1);
  made.wait_receive(2, 10, 60, 7, 1);
  CHECK(chains(made, Direction::kForward) == Chains{0, 1, 2});
  CHECK(chains(made, Direction::kBackward) == Chains{2, 1, 0});
}

TEST_CASE("a backward walk ends at a step at time 0") {
  MadeJob made(2);
  made.send(0, 0, 20, 1);
  made.receive(1, 0, 30, 0);
  CHECK(chains(made, Direction::kBackward) == Chains{1, 0});
}

TEST_CASE("values pass through collectives along their dependences") {
  struct Case {
    std::string function;
    int root;
    Chains forward, backward;
  };
  // Rank 1 has a chain of one before, from rank 2; after it rank 2 has one to rank 0.
  const std::vector<Case> cases = {
      {"MPI_Barrier", -1, {2, 1, 1}, {1, 1, 2}}, {"MPI_Bcast", 1, {2, 1, 1}, {0, 1, 2}},
      {"MPI_Bcast", 0, {1, 1, 0}, {1, 0, 1}},    {"MPI_Reduce", 2, {2, 1, 1}, {1, 1, 2}},
      {"MPI_Reduce", 0, {1, 1, 0}, {0, 0, 1}},   {"MPI_Scan", -1, {2, 1, 1}, {1, 1, 2}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.function);
    CAPTURE(one.root);
    MadeJob made(3);
    made.send(2, 10, 20, 1);
    made.receive(1, 10, 30, 2);
    for (int rank = 0; rank < 3; ++rank) made.collective(rank, 100, 200, one.function, one.root);
    made.send(2, 300, 310, 0);
    made.receive(0, 300, 320, 2);
    CHECK(chains(made, Direction::kForward) == one.forward);
    CHECK(chains(made, Direction::kBackward) == one.backward);
  }
}

TEST_CASE("members of a reduction continue before the root is there") {
  MadeJob made(2);
  made.collective(0, 10, 20, "MPI_Reduce", 1);
  made.send(0, 30, 40, 1);
  made.receive(1, 30, 50, 0);  // the root receives first
  made.collective(1, 60, 70, "MPI_Reduce", 1);
  CHECK(chains(made, Direction::kForward) == Chains{0, 1});
  CHECK(chains(made, Direction::kBackward) == Chains{1, 0});
}

TEST_CASE("a receive without a recorded completion lets its sender continue") {
  MadeJob made(2);
  made.send(0, 10, 20, 1);
  made.irecv(1, 5, 7, 0);
  made.enter(1, 10, "MPI_Barrier");
  made.arrive(1, 50, 7, 0);
  CHECK(chains(made, Direction::kForward) == Chains{0, 0});
  CHECK(chains(made, Direction::kBackward, 1) == Chains{0, 0});
}

}  // namespace
}  // namespace fathom::analysis
