// SPDX-License-Identifier: BSD-3-Clause
// Causal order: every step once in both directions, and every message after its send, whatever the
// clocks say.
#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "analysis/engine/causal_order.h"
#include "test/unit/engine/joined_job.h"

namespace fathom::analysis {
namespace {

using test::Joined;
using test::MadeJob;

constexpr const char* kLetters = "EL><cd!";  // by Moment

struct Walked {
  std::string text;  // "0E 0> 1E …"
  std::vector<Visit> visits;
};

Walked walk(const JoinedJob& job, Direction direction) {
  Walked walked;
  CausalOrder order(job, direction);
  for (Visit visit; order.next(visit);) {
    walked.visits.push_back(visit);
    walked.text += std::to_string(visit.process) + kLetters[static_cast<int>(visit.moment)] + " ";
  }
  return walked;
}

TEST_CASE("two processes are visited in order of time, forward and backward") {
  MadeJob made(2);
  made.send(0, 10, 20, 1);
  made.receive(1, 5, 40, 0);
  const Joined joined(made);
  CHECK(walk(*joined, Direction::kForward).text == "1E 0E 0> 0L 1< 1L ");
  CHECK(walk(*joined, Direction::kBackward).text == "1L 1< 0L 0> 0E 1E ");
}

TEST_CASE("a message that arrives before it was sent is still visited after the send") {
  MadeJob made(2);
  made.definitions.processes[1].host = "n2";  // whose clock is 100 ns late
  made.send(0, 110, 120, 1);
  made.receive(1, 10, 40, 0);
  const Joined joined(made);
  CHECK(walk(*joined, Direction::kForward).text == "1E 0E 0> 1< 1L 0L ");
  CHECK(walk(*joined, Direction::kBackward).text == "0L 1L 1< 0> 0E 1E ");
}

TEST_CASE("a barrier is left after all have entered, even if one clock is late") {
  MadeJob made(2);
  made.collective(0, 10, 30, "MPI_Barrier");
  made.collective(1, 100, 130, "MPI_Barrier");
  const Joined joined(made);
  CHECK(walk(*joined, Direction::kForward).text == "0E 0c 1E 1c 0L 1L ");
}

TEST_CASE("in random jobs each step comes once, calls nest, and the directions mirror each other") {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    constexpr int kRanks = 5;
    MadeJob made(kRanks);
    std::vector<std::uint64_t> now(kRanks, 10);
    std::map<std::pair<int, int>, int> under_way;
    for (int i = 0; i < 200; ++i) {
      const int a = static_cast<int>(random() % kRanks),
                b = static_cast<int>((static_cast<unsigned>(a) + 1 + random() % (kRanks - 1)) %
                                     kRanks);
      const auto begin = now[static_cast<std::size_t>(a)] + random() % 30,
                 end = begin + 3 + random() % 50;
      if (under_way[{b, a}] > 0 && random() % 2) {
        made.receive(a, begin, end, b);
        --under_way[{b, a}];
      } else {
        made.send(a, begin, end, b);
        ++under_way[{a, b}];
      }
      now[static_cast<std::size_t>(a)] = end + 1;
    }
    const Joined joined(made);
    const Walked forward = walk(*joined, Direction::kForward),
                 backward = walk(*joined, Direction::kBackward);
    REQUIRE(forward.visits.size() == 600);
    REQUIRE(backward.visits.size() == 600);
    for (const bool reverse : {false, true}) {
      std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
      for (const Visit& visit : (reverse ? backward : forward).visits) {
        const Step& step = joined->steps().at(visit.process, visit.step);
        const bool later = visit.moment == (reverse ? Moment::kSend : Moment::kReceive);
        if (later && step.has(kJoined)) CHECK(seen.contains({step.partner, step.partner_step}));
        if (visit.moment != Moment::kLeave) CHECK(seen.insert({visit.process, visit.step}).second);
      }
      CHECK(seen.size() == 400);
    }
    for (std::uint32_t process = 0; process < kRanks; ++process) {
      std::string there, back;
      for (const Visit& visit : forward.visits) {
        if (visit.process == process)
          there += kLetters[static_cast<int>(visit.moment)] + std::to_string(visit.step) + " ";
      }
      for (const Visit& visit : backward.visits) {
        if (visit.process == process)
          back = kLetters[static_cast<int>(visit.moment)] + std::to_string(visit.step) + " " + back;
      }
      CHECK(there == back);
    }
  }
}

TEST_CASE("a collective call inside another call is ordered") {
  MadeJob made(1);
  made.enter(0, 10, "MPI_Wait");
  made.collective(0, 20, 30, "MPI_Barrier");
  made.leave(0, 40, "MPI_Wait");
  const Joined joined(made);
  const std::string there = walk(*joined, Direction::kForward).text,
                    back = walk(*joined, Direction::kBackward).text;
  CHECK(there == "0E 0E 0c 0L 0L ");
  CHECK(back == "0L 0L 0c 0E 0E ");
}

TEST_CASE("a trace without steps is ordered") {
  MadeJob made(2);
  const Joined joined(made);
  CHECK(walk(*joined, Direction::kForward).visits.empty());
  CHECK(walk(*joined, Direction::kBackward).visits.empty());
}

}  // namespace
}  // namespace fathom::analysis
