// SPDX-License-Identifier: BSD-3-Clause
// What several threads do with a job is what one does; what is found of a window is what the whole job has there.
#include <doctest/doctest.h>

#include <cstring>
#include <thread>
#include <tuple>

#include "analysis/waits/wait_steps.h"
#include "test/unit/engine/job_graph.h"
#include "test/unit/engine/joined_job.h"

namespace fathom::analysis {
namespace {

using test::Draw;
using test::Joined;
using test::MadeJob;

// A job with a loss, a pause and a send that nobody receives, besides what is drawn.
MadeJob damaged(std::uint64_t seed) {
  MadeJob made = test::made_from(test::drawn(seed, 2));
  for (int rank = 0; rank < 3; ++rank) {
    made.collective(rank, 50'000, 50'100, "MPI_Barrier");
    if (rank == 1) made.add(rank, trace::EventKind::kLost, 50'200).count = 2;
    made.add(rank, trace::EventKind::kPause, 50'300).code = 1;
    made.add(rank, trace::EventKind::kResume, 50'400);
    made.receive(rank, 50'500, 50'600, (rank + 1) % 3, 1000 + rank);
    made.send(rank, 50'700, 50'800, (rank + 2) % 3, 1000 + (rank + 2) % 3);
    made.send(rank, 50'900, 50'950, (rank + 1) % 3, 2000);
  }
  return made;
}

void check_same(const JoinedJob& one, const JoinedJob& other) {
  CHECK(one.own() == other.own());
  CHECK(one.mapping() == other.mapping());
  const JoinSummary &a = one.summary(), &b = other.summary();
  CHECK(std::tie(a.events, a.messages, a.collectives, a.sends_to_nobody, a.left_out_parts) ==
        std::tie(b.events, b.messages, b.collectives, b.sends_to_nobody, b.left_out_parts));
  CHECK(a.problems == b.problems);
  for (std::uint32_t process = 0; process < one.mapping().size(); ++process) {
    CHECK(std::memcmp(&a.processes[process], &b.processes[process], sizeof(ProcessSummary)) == 0);
    CHECK(one.site_addresses(process) == other.site_addresses(process));
    REQUIRE(one.steps().size(process) == other.steps().size(process));
    for (std::uint32_t step = 0; step < one.steps().size(process); ++step) {
      CAPTURE(step);
      CHECK(std::memcmp(&one.steps().at(process, step), &other.steps().at(process, step),
                        sizeof(Step)) == 0);
    }
  }
}

TEST_CASE("a job that several threads join is the one that a single thread joins") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    MadeJob made = seed % 3 == 2 ? damaged(seed) : test::made_from(test::drawn(seed, 2));
    const test::Scratch scratch;
    const trace::Trace trace = made.written(scratch / "run");
    SingleProcess alone;
    const auto one = join_job(trace, alone, {});
    REQUIRE(one.ok());
    for (const std::size_t threads : {1, 2, 3}) {
      const auto several = join_in_threads(trace, alone, {}, threads);
      REQUIRE(several.ok());
      check_same(**one, **several);
    }
  }
}

TEST_CASE("threads that share an analysis get what each sent to them, in every exchange") {
  constexpr std::size_t kThreads = 3;
  ThreadGroup group(kThreads);
  std::vector<ThreadGroup::Member> members;
  for (std::size_t number = 0; number < kThreads; ++number) members.emplace_back(group, number);
  std::vector<int> wrong(kThreads);
  const auto work = [&](std::size_t self) {
    for (int round = 0; round < 200; ++round) {
      const auto said = [round](std::size_t from, std::size_t to) {
        return Transport::Bytes(1 + from, static_cast<char>(round + 7 * static_cast<int>(to)));
      };
      std::vector<Transport::Bytes> outgoing;
      for (std::size_t to = 0; to < kThreads; ++to) outgoing.push_back(said(self, to));
      const auto incoming = members[self].exchange(std::move(outgoing));
      for (std::size_t from = 0; from < kThreads; ++from)
        wrong[self] += incoming[from] == said(from, self) ? 0 : 1;
    }
  };
  std::vector<std::thread> others;
  for (std::size_t self = 1; self < kThreads; ++self) others.emplace_back(work, self);
  work(0);
  for (std::thread& other : others) other.join();
  CHECK(wrong == std::vector<int>(kThreads));
}

auto all_of(const WaitRow& row) {
  return std::tie(row.process, row.kind, row.function, row.phase, row.culprit, row.site, row.ns,
                  row.count, row.worst_ns, row.worst_at_ns);
}

void check_windows(MadeJob& made, std::uint64_t seed) {
  Joined job(made);
  Draw draw(seed);
  const auto last_ns = static_cast<int>(job->definitions().processes[0].last_ns) + 2;
  for (int window = 0; window < 20; ++window) {
    WaitScope scope;
    if (window > 0) {
      const auto one = static_cast<std::uint64_t>(draw.below(last_ns)),
                 other = static_cast<std::uint64_t>(draw.below(last_ns));
      scope.from_ns = std::min(one, other);
      scope.to_ns = std::max(one, other) + 1;
    }
    const std::vector<WaitRow> direct = find_direct_waits(*job, scope).rows;
    const std::vector<WaitRow> all = find_waits(*job, scope).rows;
    CAPTURE(scope.from_ns);
    CAPTURE(scope.to_ns);
    REQUIRE(direct.size() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(all_of(direct[i]) == all_of(all[i]));
  }
}

TEST_CASE("the waits of any window are the same with and without their causes") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    MadeJob made = seed % 3 == 2 ? damaged(seed) : test::made_from(test::drawn(seed, 2));
    check_windows(made, seed);
  }
}

TEST_CASE("which order was wrong is told by a receive long after the window of the wait") {
  MadeJob made(3);
  made.receive(0, 1000, 1500, 1, 1);  // waits
  made.collective(0, 1600, 1700, "MPI_Bcast", 0);
  made.receive(0, 2000, 2100, 2, 2);  // had been sent before
  made.send(1, 1400, 1450, 0, 1);
  made.collective(1, 1600, 1700, "MPI_Bcast", 0);
  made.send(2, 10, 20, 0, 2);
  made.collective(2, 1600, 1700, "MPI_Bcast", 0);
  Joined job(made);
  WaitScope scope;
  scope.from_ns = 1100;
  scope.to_ns = 1200;
  const std::vector<WaitRow> rows = find_direct_waits(*job, scope).rows;
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].kind == WaitKind::kWrongOrder);
  CHECK(rows[0].ns == 100);
  check_windows(made, 1);
}

}  // namespace
}  // namespace fathom::analysis
