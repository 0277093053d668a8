// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives: joined from the call that starts them to the one that completes them.
#include <doctest/doctest.h>

#include "analysis/engine/step_recorder.h"
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

TEST_CASE("a window that is made after 128 pauses is no persistent collective") {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) {
    for (std::uint64_t pause = 0; pause < 128; ++pause)
      made.add(rank, trace::EventKind::kPause, 10 + pause);
    made.on_window(rank, 200, 210, "MPI_Win_create", 0xa);
  }
  made.on_window(0, 300, 910, "MPI_Win_fence", 0xa);
  made.on_window(1, 900, 910, "MPI_Win_fence", 0xa);
  const test::Joined job(made);
  std::uint32_t fences = 0;
  for (std::uint32_t number = 0; number < job->steps().size(0); ++number) {
    const Step& step = job->steps().at(0, number);
    if (step.kind != StepKind::kCollective || step.object == 0) continue;
    CHECK_FALSE(PersistentName::is_one(step.object));
    CHECK(step.has(kJoined));
    ++fences;
  }
  CHECK(fences == 1);
}

// Of two processes, the one may have made more before the window of a flight recorder begins.
TEST_CASE("where a trace begins in the middle, persistent collectives are not counted from there") {
  for (const bool in_window : {false, true}) {
    MadeJob made(2);
    made.make_persistent(1, 10, "MPI_Allreduce_init", 0x10);
    made.start(1, 20, 0x10);
    if (in_window) made.definitions.processes[1].opening.emplace();
    const JobFacts facts(made.definitions);
    StepFile steps(2);
    Channels channels;
    Outgoing outgoing;
    StepRecorder recorder(facts, 0, {}, steps, channels, outgoing);
    made.enter(0, 10, "MPI_Allreduce_init").communicator = 0;
    made.leave(0, 12, "MPI_Allreduce_init").request = 0x10;
    made.start(0, 20, 0x10);
    for (const trace::Event& event : made.events(0)) recorder.step(event);
    CHECK(outgoing.parts.size() == (in_window ? 0 : 1));
  }
}

TEST_CASE("persistent collectives made after a member lost records are not kept") {
  MadeJob made(2);
  made.make_persistent(0, 10, "MPI_Allreduce_init", 0x10);
  const test::Joined job(made);
  Collectives collectives(job->facts());
  Collectives::Joined joined;
  collectives.close({0, 0, 0, 5, 1});
  Participation part;
  part.process = 1;
  for (const std::uint32_t ordinal : {0, 1}) {
    part.object = PersistentName::of(0, ordinal);
    collectives.take_part(part, joined);
  }
  CHECK(collectives.kept() == 1);  // that which the member may still have started before
  collectives.close({0, 0, 0, 5, 0});
  CHECK(collectives.kept() == 0);
  CHECK(collectives.left_out() == 2);
}

}  // namespace
}  // namespace fathom::analysis
