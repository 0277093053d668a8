// SPDX-License-Identifier: BSD-3-Clause
// Epochs of windows in which the members of groups take part: who waits for a late post or a late
// completion, on the path and in blame too.
#include <doctest/doctest.h>

#include "analysis/engine/notices.h"
#include "analysis/engine/rounds.h"
#include "analysis/path/critical_path.h"
#include "test/unit/engine/found_waits.h"

namespace fathom::analysis {
namespace {

using test::check, test::check_edges, test::MadeJob, test::waits_of;

MadeJob with_window(int ranks) {
  MadeJob made(ranks);
  for (int rank = 0; rank < ranks; ++rank) made.on_window(rank, 10, 20, "MPI_Win_create", 0xa);
  return made;
}

TEST_CASE("a start that waits waits for the last of its targets to post") {
  MadeJob made = with_window(3);
  made.in_epoch(0, 100, 630, "MPI_Win_start", {1, 2});
  made.in_epoch(0, 640, 650, "MPI_Win_complete");
  made.in_epoch(1, 300, 310, "MPI_Win_post", {0});
  made.in_epoch(1, 700, 710, "MPI_Win_wait");
  made.in_epoch(2, 600, 610, "MPI_Win_post", {0});
  made.in_epoch(2, 700, 710, "MPI_Win_wait");
  check(waits_of(made), {{WaitKind::kLatePost, 0, 2, 500}});
  check_edges(made);
}

TEST_CASE("a completion waits for a post if the start did not") {
  MadeJob made = with_window(2);
  made.in_epoch(0, 100, 110, "MPI_Win_start", {1});
  made.in_epoch(0, 200, 630, "MPI_Win_complete");
  made.in_epoch(1, 600, 610, "MPI_Win_post", {0});
  made.in_epoch(1, 620, 640, "MPI_Win_wait");
  check(waits_of(made), {{WaitKind::kLatePost, 0, 1, 400}});
  check_edges(made);
}

TEST_CASE("a start or completion that was left before the post did not wait for it") {
  MadeJob made = with_window(2);
  made.in_epoch(0, 100, 110, "MPI_Win_start", {1});
  made.in_epoch(0, 200, 210, "MPI_Win_complete");
  made.send(0, 300, 310, 1);
  made.receive(1, 320, 340, 0);
  made.in_epoch(1, 600, 610, "MPI_Win_post", {0});
  made.in_epoch(1, 620, 640, "MPI_Win_wait");
  check(waits_of(made), {});
  check_edges(made);
}

TEST_CASE("the end of an exposure waits for the last origin to complete") {
  for (const bool in_loop : {false, true}) {
    CAPTURE(in_loop);
    MadeJob made = with_window(3);
    made.in_epoch(0, 100, 110, "MPI_Win_post", {1, 2});
    if (in_loop) {
      made.in_epoch(0, 200, 210, "MPI_Win_test", {}, false);
      made.in_epoch(0, 220, 230, "MPI_Win_test", {}, false);
      made.in_epoch(0, 720, 730, "MPI_Win_test");
    } else {
      made.in_epoch(0, 200, 730, "MPI_Win_wait");
    }
    for (const int origin : {1, 2}) {
      made.in_epoch(origin, 300, 310, "MPI_Win_start", {0});
      made.in_epoch(origin, origin == 1 ? 700 : 400, 710, "MPI_Win_complete");
    }
    check(waits_of(made), {{in_loop ? WaitKind::kPolling : WaitKind::kLateComplete, 0, 1, 500}});
    check_edges(made);
  }
}

TEST_CASE("epochs are paired in order, whichever groups and windows they belong to") {
  MadeJob made(3);
  for (const std::uint64_t window : {0xa, 0xb}) {
    for (int rank = 0; rank < 3; ++rank)
      made.on_window(rank, 10 * window, 10 * window + 5, "MPI_Win_create", window);
  }
  const auto on = [&made](std::uint64_t window, int rank, std::uint64_t from_ns,
                          std::uint64_t to_ns, const char* function, std::vector<int> group = {}) {
    made.in_epoch(rank, from_ns, to_ns, function, group, true, window);
  };
  // Rank 1 exposes the second window before the first, and the first to 0 before 2.
  on(0xb, 1, 200, 210, "MPI_Win_post", {0});
  on(0xa, 1, 300, 310, "MPI_Win_post", {0});
  on(0xa, 1, 320, 640, "MPI_Win_wait");
  on(0xa, 1, 700, 710, "MPI_Win_post", {2});
  on(0xa, 1, 720, 830, "MPI_Win_wait");
  on(0xb, 1, 900, 910, "MPI_Win_wait");
  on(0xa, 0, 250, 320, "MPI_Win_start", {1});
  on(0xa, 0, 630, 640, "MPI_Win_complete");
  on(0xb, 0, 650, 660, "MPI_Win_start", {1});
  on(0xb, 0, 670, 680, "MPI_Win_complete");
  on(0xa, 2, 600, 710, "MPI_Win_start", {1});
  on(0xa, 2, 820, 830, "MPI_Win_complete");
  check(waits_of(made), {{WaitKind::kLatePost, 0, 1, 50},
                         {WaitKind::kLateComplete, 1, 0, 310},
                         {WaitKind::kLateComplete, 1, 2, 100},
                         {WaitKind::kLatePost, 2, 1, 100}});
  check_edges(made);
}

TEST_CASE("without the members of groups, as in older traces, no wait is known") {
  MadeJob made = with_window(2);
  made.in_epoch(0, 100, 630, "MPI_Win_start");
  made.in_epoch(0, 640, 650, "MPI_Win_complete");
  made.in_epoch(1, 600, 610, "MPI_Win_post");
  made.in_epoch(1, 620, 660, "MPI_Win_wait");
  check(waits_of(made), {});
  check_edges(made);
}

// Of two processes, the one may have posted more often before the window of a flight recorder begins.
TEST_CASE("epochs are joined in a trace that begins late if their window is made in it") {
  for (const int knows : {2, 1, 0}) {  // how many ranks' traces hold its making
    CAPTURE(knows);
    MadeJob made(2);
    for (int rank = 0; rank < knows; ++rank) made.on_window(rank, 10, 20, "MPI_Win_create", 0xa);
    made.in_epoch(0, 100, 630, "MPI_Win_start", {1});
    made.in_epoch(0, 640, 650, "MPI_Win_complete");
    made.in_epoch(1, 600, 610, "MPI_Win_post", {0});
    made.in_epoch(1, 660, 670, "MPI_Win_wait");
    for (trace::Process& process : made.definitions.processes) process.opening.emplace();
    const JobFacts facts(made.definitions);
    StepFile steps(2);
    Channels channels;
    Outgoing outgoing;
    std::uint64_t left_out = 0;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      StepRecorder recorder(facts, rank, {}, steps, channels, outgoing);
      for (const trace::Event& event : made.events(static_cast<int>(rank))) recorder.step(event);
      left_out += recorder.of_unknown_objects();
    }
    Notices notices(facts, {0, 1});
    Channels::Joined joined;
    for (const SentMessage& notice : outgoing.notices)
      notices.told(static_cast<std::uint32_t>(notice.destination), notice, joined);
    for (const HeardNotice& notice : outgoing.heard) notices.heard(notice, joined);
    CHECK(joined.size() == (knows == 2 ? 3 : 0));
    CHECK(left_out == 2 * static_cast<std::uint64_t>(2 - knows));
  }
}

// Rank 1 posts late, so rank 0 cannot complete, and rank 2 waits for that.
MadeJob chain() {
  MadeJob made = with_window(3);
  made.in_epoch(0, 100, 110, "MPI_Win_start", {1, 2});
  made.in_epoch(0, 120, 1130, "MPI_Win_complete");
  made.in_epoch(1, 1100, 1110, "MPI_Win_post", {0});
  made.in_epoch(1, 1120, 1140, "MPI_Win_wait");
  made.in_epoch(2, 100, 110, "MPI_Win_post", {0});
  made.in_epoch(2, 200, 1150, "MPI_Win_wait");
  return made;
}

TEST_CASE("a target waits for an origin that waits for another target, which is the origin") {
  MadeJob made = chain();
  const JobWaits waits = waits_of(made);
  check(waits, {{WaitKind::kLatePost, 0, 1, 980}, {WaitKind::kLateComplete, 2, 0, 900}});
  std::uint64_t direct_ns = 0, indirect_ns = 0;
  for (const OriginRow& row : waits.origins) {
    CHECK(row.process == 1);
    direct_ns += row.direct_ns;
    indirect_ns += row.indirect_ns;
  }
  CHECK(direct_ns == 980);
  CHECK(indirect_ns == 900);
  check_edges(made);
}

TEST_CASE("the path ends where two receives end at the instant at which both sends begin") {
  MadeJob made(2);
  for (const int rank : {0, 1}) {
    made.receive(rank, 100, 200, 1 - rank);
    made.send(rank, 200, 210, 1 - rank);
    made.collective(rank, 300, 310, "MPI_Finalize");
  }
  const test::Joined job(made);
  const auto pass = critical_path_pass(*job, 100);
  run_passes(job->transport(), {pass.pass.get()});
  CHECK(pass.result().stretches.back().end_ns == 310);
}

TEST_CASE("the path of a target that waits leads through the completion to the late post") {
  MadeJob made = chain();
  made.collective(2, 1200, 1210, "MPI_Finalize");  // the last to enter
  made.collective(0, 1180, 1210, "MPI_Finalize");
  made.collective(1, 1180, 1210, "MPI_Finalize");
  const test::Joined job(made);
  const auto pass = critical_path_pass(*job, 100);
  run_passes(job->transport(), {pass.pass.get()});
  const CriticalPath path = pass.result();
  REQUIRE(path.stretches.size() > 2);
  std::uint64_t of_rank_1_ns = 0;
  for (const PathStretch& part : path.stretches) {
    if (part.process == 1) of_rank_1_ns += part.end_ns - part.begin_ns;
    const bool waiting = part.begin_ns < 1100 && part.end_ns > 200 && part.process != 1;
    CHECK_FALSE(waiting);
  }
  CHECK(of_rank_1_ns == 1100 - 10);
  CHECK(path.stretches.back().end_ns == 1210);
}

TEST_CASE("what an epoch tells is an event also if nobody hears it, and a lock's is not") {
  Step told;
  told.kind = StepKind::kSend;
  told.flags = kHidden | kNotice;
  CHECK_FALSE(is_internal(told));
  told.number = kAboutLock;
  CHECK(is_internal(told));
  told.flags |= kJoined;
  CHECK_FALSE(is_internal(told));
}

}  // namespace
}  // namespace fathom::analysis
