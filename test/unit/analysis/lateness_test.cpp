// SPDX-License-Identifier: BSD-3-Clause
// Logical steps and lateness, on jobs worked out by hand.
#include <doctest/doctest.h>

#include "analysis/engine/joined_job.h"
#include "analysis/lateness/lateness.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/engine/made_job.h"

namespace fathom::analysis {
namespace {

using test::MadeJob;
using StepNumbers = ScratchVector<std::uint32_t>;
using Times = std::vector<std::uint64_t>;

struct Structured {
  explicit Structured(MadeJob& made, const StructureOptions& options = {}) {
    const test::Scratch scratch;
    const trace::Trace trace = made.written(scratch / "run");
    SingleProcess alone;
    auto job = join_job(trace, alone, {});
    REQUIRE(job.ok());
    all = comm_events(**job);
    structure = logical_structure(all, options);
    const Lateness lateness(all, structure, Times(made.definitions.processes.size()));
    all.each([&](std::uint32_t event) {
      late.events.push_back(lateness.event(event));
      late.computation.push_back(lateness.computation(event));
    });
  }
  StepNumbers global_steps() const {
    StepNumbers steps;
    for (std::size_t event = 0; event < all.events.size(); ++event)
      steps.push_back(structure.global_step(event));
    return steps;
  }
  static Times of(const std::vector<Late>& all, std::uint64_t Late::*member) {
    Times values;
    for (const Late& one : all) values.push_back(one.*member);
    return values;
  }
  CommEvents all;
  LogicalStructure structure;
  struct {
    std::vector<Late> events, computation;  // by event
  } late;
};

void wait(MadeJob& made, int rank, std::uint64_t from_ns, std::uint64_t to_ns,
          std::uint64_t request, int peer, int tag = 0) {
  made.enter(rank, from_ns, "MPI_Wait").request = request;
  made.arrive(rank, to_ns - 2, request, peer, tag);
  made.complete(rank, to_ns - 1, request);
  made.leave(rank, to_ns, "MPI_Wait");
}

void icollective(MadeJob& made, int rank, std::uint64_t from_ns, std::uint64_t request) {
  trace::Event& event = made.enter(rank, from_ns, "MPI_Ibarrier");
  event.communicator = 0;
  made.leave(rank, from_ns + 2, "MPI_Ibarrier").request = request;
}

void wait_only(MadeJob& made, int rank, std::uint64_t from_ns, std::uint64_t to_ns,
               std::uint64_t request) {
  made.enter(rank, from_ns, "MPI_Wait").request = request;
  made.complete(rank, to_ns - 1, request);
  made.leave(rank, to_ns, "MPI_Wait");
}

TEST_CASE(
    "two processes that exchange without blocking form one partition, and the late one is found") {
  MadeJob made(2);
  made.isend(0, 10, 1, 1);
  made.irecv(0, 20, 2, 1);
  wait(made, 0, 30, 40, 2, 1);
  made.isend(1, 15, 1, 0);
  made.irecv(1, 20, 2, 0);
  wait(made, 1, 30, 60, 2, 0);
  const Structured job(made);
  CHECK(job.structure.partition == StepNumbers{0, 0, 0, 0});
  CHECK(job.structure.stride == StepNumbers{0, kNobody, 0, kNobody});
  CHECK(job.structure.step == StepNumbers{0, 1, 0, 1});
  CHECK(job.global_steps() == StepNumbers{1, 3, 1, 3});
  CHECK(Structured::of(job.late.events, &Late::lateness_ns) == Times{0, 0, 5, 20});
  CHECK(Structured::of(job.late.computation, &Late::lateness_ns) == Times{0, 0, 5, 0});
  CHECK(Structured::of(job.late.events, &Late::differential_ns) == Times{0, 0, 0, 20});
  CHECK(Structured::of(job.late.computation, &Late::differential_ns) == Times{0, 0, 5, 0});
  CHECK(Structured::of(job.late.events, &Late::differential_duration_ns) == Times{0, 0, 0, 20});
  // 18 from the send to the wait at rank 0, 13 at rank 1.
  CHECK(Structured::of(job.late.computation, &Late::differential_duration_ns) == Times{0, 5, 5, 0});
}

TEST_CASE("messages followed by a barrier form two leaps with consecutive steps") {
  MadeJob made(3);
  made.send(0, 10, 20, 1);
  made.receive(1, 10, 30, 0);
  for (int rank = 0; rank < 3; ++rank)
    made.collective(rank, 100, 200 + 10 * static_cast<std::uint64_t>(rank), "MPI_Barrier");
  const Structured job(made);
  CHECK(job.structure.partition == StepNumbers{0, 1, 0, 1, 1});
  CHECK(job.structure.leaps == 2);
  CHECK(job.structure.step == StepNumbers{0, 0, 1, 0, 0});
  CHECK(job.global_steps() == StepNumbers{1, 5, 3, 5, 5});
  CHECK(Structured::of(job.late.events, &Late::lateness_ns) == Times{0, 0, 0, 10, 20});
}

TEST_CASE("lateness that arrives with a message is not attributed to the receiver") {
  MadeJob made(4);
  made.send(0, 10, 20, 1);
  made.receive(1, 10, 30, 0);
  made.send(2, 510, 520, 3);
  made.receive(3, 10, 530, 2);
  for (int rank = 0; rank < 4; ++rank) made.collective(rank, 600, 700, "MPI_Barrier");
  StructureOptions options;
  options.complete_leaps = true;
  const Structured job(made, options);  // two partitions side by side; the leap is complete
  CHECK(job.structure.partitions.size() == 3);
  CHECK(Structured::of(job.late.events, &Late::global_lateness_ns) ==
        Times{0, 0, 0, 0, 500, 0, 500, 0});
  CHECK(Structured::of(job.late.events, &Late::lateness_ns) == Times{0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE(
    "a receive in a chain of three processes in one partition gets the latest step possible") {
  MadeJob made(3);
  // 0 sends to 1 and 2 without blocking and waits for both answers; 2 answers only after a message
  // from 1.
  made.isend(0, 10, 1, 1);
  made.isend(0, 20, 2, 2);
  made.irecv(0, 30, 3, 1, 1);
  made.irecv(0, 31, 4, 2, 2);
  made.enter(0, 40, "MPI_Waitall");
  made.arrive(0, 90, 3, 1, 1);
  made.complete(0, 91, 3);
  made.arrive(0, 190, 4, 2, 2);
  made.complete(0, 191, 4);
  made.leave(0, 200, "MPI_Waitall");
  made.receive(1, 10, 50, 0);
  made.send(1, 60, 70, 0, 1);
  made.send(1, 80, 90, 2, 3);
  made.receive(2, 10, 55, 0);
  made.receive(2, 60, 100, 1, 3);
  made.send(2, 150, 160, 0, 2);
  const Structured job(made);
  // The sends of 0 are one event; Waitall comes after all.
  REQUIRE(job.all.events.size() == 8);
  CHECK(job.structure.partitions.size() == 2);
  CHECK(job.structure.partition == StepNumbers{0, 1, 0, 1, 1, 0, 1, 1});
  CHECK(job.structure.stride == StepNumbers{0, kNobody, kNobody, 0, 1, kNobody, kNobody, 2});
  CHECK(job.structure.step == StepNumbers{0, 4, 1, 0, 1, 1, 2, 3});
}

TEST_CASE("consecutive non-blocking sends are one event, eager or not, up to a blocking one") {
  MadeJob made(2);
  constexpr std::uint64_t kComplete = trace::kNoRequest;  // what an eager MPI_Isend returns
  made.isend(0, 10, kComplete, 1, 1);
  made.isend(0, 20, 7, 1, 2, 1 << 20);
  made.isend(0, 30, kComplete, 1, 3);
  made.send(0, 40, 50, 1, 4);
  made.isend(0, 60, kComplete, 1, 5);
  for (int tag = 1; tag <= 5; ++tag) {
    const std::uint64_t at = 10 * static_cast<std::uint64_t>(tag);
    made.receive(1, at, at + 5, 0, tag, tag == 2 ? 1 << 20 : 8);
  }
  const Structured job(made);
  REQUIRE(job.all.first_of[1] ==
          3);  // of rank 0: what is sent without blocking, MPI_Send, the rest
  CHECK(job.all.events[0].enter_ns == 10);
  CHECK(job.all.events[0].exit_ns == 32);
  CHECK(job.all.receivers.of(0).size() == 3);
}

TEST_CASE(
    "a non-blocking collective starts like a send to all and completes like a receive from all") {
  MadeJob made(2);
  icollective(made, 0, 10, 1);
  made.receive(0, 20, 80, 1);
  wait_only(made, 0, 90, 95, 1);
  icollective(made, 1, 10, 1);
  wait_only(made, 1, 20, 30, 1);
  made.send(1, 40, 50, 0);
  const Structured job(made);
  CHECK(job.structure.partitions.size() == 1);
  CHECK(job.structure.stride == StepNumbers{0, kNobody, kNobody, 0, kNobody, 1});
  CHECK(job.structure.step == StepNumbers{0, 3, 4, 0, 1, 2});
}

TEST_CASE("a leap that lacks a process is completed") {
  MadeJob made(3);
  made.send(0, 10, 20, 1);
  made.receive(1, 10, 30, 0);
  made.send(1, 40, 50, 2);
  made.receive(2, 10, 60, 1);
  CHECK(Structured(made).structure.partition == StepNumbers{0, 0, 1, 1});
  StructureOptions options;
  options.complete_leaps = true;
  const Structured job(made, options);
  CHECK(job.structure.partition == StepNumbers{0, 0, 0, 0});
  CHECK(job.structure.step == StepNumbers{0, 1, 2, 3});
}

TEST_CASE("a partition close to the previous one and far from the next joins the previous one") {
  MadeJob made(3);
  made.send(0, 10, 20, 1);
  made.receive(1, 10, 30, 0);
  made.send(1, 31, 32, 0, 1);  // 1 later; the barrier is 900 away
  made.receive(0, 31, 33, 1, 1);
  for (int rank = 0; rank < 3; ++rank) made.collective(rank, 1000, 1010, "MPI_Barrier");
  StructureOptions options;
  options.complete_leaps = true;
  CHECK(Structured(made).structure.leaps == 3);
  const Structured job(made, options);
  CHECK(job.structure.partition[0] == job.structure.partition[1]);
}

TEST_CASE("a root that leaves before others enter makes a cycle, and the analysis still ends") {
  MadeJob made(2);
  made.collective(0, 10, 20, "MPI_Bcast", 0);
  made.send(0, 30, 40, 1);
  made.receive(1, 10, 50, 0);
  made.collective(1, 60, 70, "MPI_Bcast", 0);
  const Structured job(made);
  CHECK(job.structure.partitions.size() == 1);
  for (const std::uint32_t step : job.structure.step) CHECK(step < 4);
}

TEST_CASE("an empty trace and an event without its other end are analysed") {
  MadeJob none(1);
  CHECK(Structured(none).structure.partitions.empty());
  MadeJob made(2);
  made.receive(1, 10, 50, 0);
  const Structured job(made);
  CHECK(job.structure.step == StepNumbers{0});
}

TEST_CASE("a chain of a hundred thousand partitions needs no recursion") {
  MadeJob made(2);
  constexpr int kRounds = 50'000;
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    made.send(0, 100 * i + 10, 100 * i + 20, 1);
    made.receive(1, 100 * i + 10, 100 * i + 30, 0);
    made.send(1, 100 * i + 40, 100 * i + 50, 0);
    made.receive(0, 100 * i + 40, 100 * i + 60, 1);
  }
  const Structured job(made);
  CHECK(job.structure.partitions.size() == 2 * kRounds);
  CHECK(job.structure.leaps == 2 * kRounds);
  CHECK(job.structure.global_step(1) == 7);
}

}  // namespace
}  // namespace fathom::analysis
