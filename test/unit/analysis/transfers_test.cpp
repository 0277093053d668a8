// SPDX-License-Identifier: BSD-3-Clause
// The life of messages at their ends, and what blocked calls wait for, on events written by hand.
#include <doctest/doctest.h>

#include "analysis/engine/joined_job.h"
#include "analysis/waits/blocked_time.h"
#include "analysis/waits/transfer_steps.h"
#include "test/unit/engine/joined_job.h"

namespace fathom::analysis {
namespace {

using test::MadeJob;
using trace::EventKind;
using trace::TransferStep;

void transfer(MadeJob& made, int rank, std::uint64_t time_ns, TransferStep step,
              std::uint64_t request, bool receiving = true) {
  trace::Event& event = made.add(rank, EventKind::kTransfer, time_ns);
  event.code = static_cast<std::uint32_t>(step);
  event.request = request;
  event.receiving = receiving;
}

void queue(MadeJob& made, int rank, std::uint64_t time_ns, bool left, int peer, int tag) {
  trace::Event& event =
      MadeJob::about(made.add(rank, EventKind::kUnexpected, time_ns), peer, tag, 0);
  event.receiving = left;
}

std::vector<Transfer> seen(MadeJob& made, const Scope& scope = {}) {
  const test::Scratch scratch;
  const trace::Trace trace = made.written(scratch / "run");
  SingleProcess alone;
  const ScopeFilter filter(scope, trace.definitions());
  TransferSteps steps(trace.definitions(), filter, 100);
  JoinOptions options;
  options.steps = false;
  options.consumers = {&steps};
  REQUIRE(join_job(trace, alone, options).ok());
  return steps.messages;
}

TEST_CASE("an eager message that came before its receive lay in the unexpected queue") {
  MadeJob made(2);
  queue(made, 1, 90, false, 0, 1);  // the first of two
  queue(made, 1, 100, false, 0, 1);
  for (const std::uint64_t at : {500u, 600u}) {
    MadeJob::about(made.enter(1, at, "MPI_Recv"), 0, 1, 8);
    transfer(made, 1, at, TransferStep::kActivate, 7);
    transfer(made, 1, at + 10, TransferStep::kMatchedUnexpected, 7);
    queue(made, 1, at + 11, true, 0, 1);
    transfer(made, 1, at + 12, TransferStep::kBegin, 7);
    transfer(made, 1, at + 12, TransferStep::kEnd, 7);
    transfer(made, 1, at + 13, TransferStep::kComplete, 7);
    made.message(1, at + 13, false, 0, 1, 8, 7);
    made.leave(1, at + 20, "MPI_Recv");
  }
  const auto messages = seen(made);
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].unexpected);
  CHECK(messages[0].queued_ns == 421);
  CHECK(messages[1].queued_ns == 511);
  CHECK(messages[0].protocol == Protocol::kEager);
  CHECK(messages[0].asked_ns == 500);
  CHECK(messages[0].matched_ns == 510);
  CHECK(messages[0].begin_ns == 512);
  CHECK(messages[0].complete_ns == 513);
  CHECK(messages[0].overlap_ns == 0);
}

TEST_CASE("an unexpected message copied in a further piece need not be a rendezvous") {
  MadeJob made(2);
  queue(made, 1, 100, false, 0, 1);
  MadeJob::about(made.enter(1, 500, "MPI_Recv"), 0, 1, 400);
  transfer(made, 1, 500, TransferStep::kActivate, 7);
  transfer(made, 1, 510, TransferStep::kMatchedUnexpected, 7);
  queue(made, 1, 511, true, 0, 1);
  transfer(made, 1, 512, TransferStep::kBegin, 7);
  transfer(made, 1, 513, TransferStep::kContinue, 7);
  transfer(made, 1, 514, TransferStep::kEnd, 7);
  transfer(made, 1, 514, TransferStep::kComplete, 7);
  made.message(1, 514, false, 0, 1, 400, 7);
  made.leave(1, 520, "MPI_Recv");
  CHECK(seen(made).at(0).protocol == Protocol::kUnknown);
}

TEST_CASE("a rendezvous overlaps with computing for the time outside MPI") {
  MadeJob made(2);
  MadeJob::about(made.enter(1, 18, "MPI_Irecv"), 0, 1, 8000);
  transfer(made, 1, 20, TransferStep::kActivate, 7);
  transfer(made, 1, 20, TransferStep::kPosted, 7);
  made.leave(1, 25, "MPI_Irecv").request = 7;
  made.enter(1, 28, "MPI_Test").request = 7;
  transfer(made, 1, 30, TransferStep::kMatchedExpected, 7);
  transfer(made, 1, 32, TransferStep::kBegin, 7);
  made.leave(1, 40, "MPI_Test");
  made.enter(1, 100, "MPI_Wait").request = 7;  // 60 between
  transfer(made, 1, 105, TransferStep::kContinue, 7);
  transfer(made, 1, 110, TransferStep::kEnd, 7);
  transfer(made, 1, 111, TransferStep::kComplete, 7);
  made.message(1, 111, false, 0, 1, 8000, 7);
  made.leave(1, 120, "MPI_Wait");
  const auto messages = seen(made);
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].protocol == Protocol::kRendezvous);
  CHECK_FALSE(messages[0].unexpected);
  CHECK(messages[0].end_ns - messages[0].begin_ns == 78);
  CHECK(messages[0].overlap_ns == 60);
}

TEST_CASE("a send's request may be recorded after the message") {
  MadeJob made(2);
  MadeJob::about(made.enter(0, 10, "MPI_Isend"), 1, 1, 8000);
  made.message(0, 11, true, 1, 1, 8000);
  transfer(made, 0, 11, TransferStep::kActivate, 9, false);
  transfer(made, 0, 14, TransferStep::kBegin, 9, false);
  made.leave(0, 20, "MPI_Isend").request = 9;
  made.enter(0, 50, "MPI_Wait").request = 9;
  transfer(made, 0, 60, TransferStep::kEnd, 9, false);
  transfer(made, 0, 61, TransferStep::kComplete, 9, false);
  made.leave(0, 70, "MPI_Wait");
  const auto messages = seen(made);
  REQUIRE(messages.size() == 1);
  CHECK_FALSE(messages[0].receiving);
  CHECK(messages[0].peer == 1);
  CHECK(messages[0].bytes == 8000);
  CHECK(messages[0].overlap_ns == 30);
  CHECK(messages[0].protocol == Protocol::kUnknown);
}

std::vector<BlockedRow> blocked(MadeJob& made) { return blocked_time(*test::Joined(made), {}); }

TEST_CASE("a receive waits for its sender, then for the wire") {
  MadeJob made(2);
  made.send(0, 600, 605, 1);
  made.receive(1, 100, 650, 0);  // arrives at 649
  const auto rows = blocked(made);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].peer_ns == 0);  // the receive was posted before: all of the send is copies and wire
  CHECK(rows[0].wire_ns == 5);
  CHECK(rows[1].process == 1);
  CHECK(rows[1].peer_ns == 500);
  CHECK(rows[1].wire_ns == 49);
}

TEST_CASE("a synchronous send waits for its receiver, then for the wire") {
  MadeJob made(2);
  made.send(0, 100, 700, 1, 0, 8, 0, "MPI_Ssend");
  made.receive(1, 600, 691, 0);
  const auto rows = blocked(made);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].process == 0);
  CHECK(rows[0].peer_ns == 500);
  CHECK(rows[0].wire_ns == 100);
  CHECK(rows[1].peer_ns == 0);
  CHECK(rows[1].wire_ns == 90);
  CHECK(rows[1].receiving);
}

TEST_CASE("the last message decides how long a wait for several took") {
  MadeJob made(3);
  made.send(0, 200, 210, 2);
  made.send(1, 300, 310, 2);
  made.irecv(2, 10, 1, 0);
  made.irecv(2, 20, 2, 1);
  made.enter(2, 100, "MPI_Waitall");
  made.arrive(2, 230, 1, 0);
  made.complete(2, 231, 1);
  made.arrive(2, 350, 2, 1);
  made.complete(2, 351, 2);
  made.leave(2, 360, "MPI_Waitall");
  for (const BlockedRow& row : blocked(made)) {
    if (row.process != 2) continue;
    CHECK(row.peer == 1);
    CHECK(row.peer_ns == 200);
    CHECK(row.wire_ns == 50);
  }
}

}  // namespace
}  // namespace fathom::analysis
