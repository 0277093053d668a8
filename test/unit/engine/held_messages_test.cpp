// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engine/step_recorder.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/engine/found_waits.h"
#include "trace/join/opened_channels.h"
#include "trace/join/walk.h"

namespace fathom::test {
namespace {

using trace::HeldState;

using Lengths = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // sent, received

// Of process 1's messages, in the order in which they arrived: as analyses join them.
Lengths joined_lengths(MadeJob& made) {
  const Joined job(made);
  Lengths lengths;
  for (std::uint32_t number = 0; number < job->steps().size(1); ++number) {
    const Step& step = job->steps().at(1, number);
    if (step.kind != analysis::StepKind::kReceive) continue;
    CHECK(step.has(analysis::kJoined));
    lengths.emplace_back(job->steps().at(step.partner, step.partner_step).bytes, step.bytes);
  }
  return lengths;
}

// The same, of the traces of flight recorders, in which not all are joined: where one is not, it is 0.
Lengths lengths_in_window(const MadeJob& made, bool sends_first) {
  const analysis::JobFacts facts(made.definitions);
  analysis::StepFile steps(2);
  std::vector<trace::Channels> channels(2);
  analysis::Outgoing outgoing;
  analysis::StepRecorder sender(facts, 0, {}, steps, channels[0], outgoing);
  analysis::StepRecorder receiver(facts, 1, {}, steps, channels[1], outgoing);
  trace::open_channels(made.definitions, [&](std::size_t process) { return &channels[process]; });
  const auto send = [&] {
    for (const trace::Event& event : made.events(0)) sender.step(event);
    sender.finish();
    for (const analysis::SentMessage& sent : outgoing.sent)
      channels[1].send(sent.key, sent.end, outgoing.joined);
  };
  if (sends_first) send();
  for (const trace::Event& event : made.events(1)) receiver.step(event);
  receiver.finish();
  if (!sends_first) send();
  Lengths lengths;
  std::uint64_t unmatched = 0;
  for (std::uint32_t number = 0; number < steps.size(1); ++number) {
    if (steps.at(1, number).kind != analysis::StepKind::kReceive) continue;
    const auto joined = std::find_if(
        outgoing.joined.begin(), outgoing.joined.end(),
        [number](const trace::JoinedEnds& ends) { return ends.received.step == number; });
    const bool is_joined = joined != outgoing.joined.end();
    unmatched += is_joined ? 0 : 1;
    lengths.emplace_back(is_joined ? steps.at(0, joined->sent.step).bytes : 0,
                         steps.at(1, number).bytes);
  }
  CHECK(channels[1].unmatched().receives == unmatched);
  return lengths;
}

void check_window(const MadeJob& made, const Lengths& expected) {
  CHECK(lengths_in_window(made, false) == expected);
  CHECK(lengths_in_window(made, true) == expected);
}

// The same, as exports do.
Lengths walked_lengths(MadeJob& made) {
  struct Collector : trace::Visitor {
    Lengths lengths;
    void transfer(const trace::Transfer& transfer) override {
      lengths.emplace_back(transfer.sent.bytes, transfer.received.bytes);
    }
  } collector;
  const Scratch scratch;
  const trace::Trace trace = made.written(scratch.path());
  const trace::WalkSummary summary = trace::walk_job(trace, collector);
  CHECK(summary.unmatched_sends + summary.unmatched_receives == 0);
  return collector.lengths;
}

// Rank 0 sends messages of 1, 2, 3 … bytes to rank 1, all before rank 1 looks for them.
MadeJob with_sends(std::uint64_t count) {
  MadeJob made(2);
  for (std::uint64_t i = 1; i <= count; ++i) made.send(0, 10 * i, 10 * i + 5, 1, 7, i);
  return made;
}

TEST_CASE("messages that probes hold have their own sends, in whatever order they are received") {
  MadeJob made = with_sends(4);
  made.take(1, 100, 105, 0xa1, 0, 7);
  made.take(1, 110, 115, 0xa2, trace::kAnySource, trace::kAnyTag, "MPI_Improbe");
  made.irecv(1, 120, 9, 0, 7);
  made.take(1, 130, 135, 0xa3, trace::kAnySource, 7);
  made.mrecv(1, 200, 210, 0xa3, 0, 7, 4);
  made.imrecv(1, 220, 0xa1, 8);
  made.mrecv(1, 230, 240, 0xa2, 0, 7, 2);
  made.wait_receive(1, 250, 260, 8, 0, 7, 1);
  made.wait_receive(1, 270, 280, 9, 0, 7, 3);
  const Lengths same = {{4, 4}, {2, 2}, {1, 1}, {3, 3}};
  CHECK(joined_lengths(made) == same);
  CHECK(walked_lengths(made) == same);
  check_edges(made);
}

TEST_CASE("a handle that comes again names the message that was taken last") {
  MadeJob made = with_sends(3);
  for (std::uint64_t i = 0; i < 3; ++i) {
    made.take(1, 100 + 100 * i, 105 + 100 * i, 0xa1, 0, 7);
    made.mrecv(1, 110 + 100 * i, 120 + 100 * i, 0xa1, 0, 7, 1 + i);
  }
  CHECK(joined_lengths(made) == Lengths{{1, 1}, {2, 2}, {3, 3}});
}

TEST_CASE("a held message that nobody receives is not taken for one that is received after it") {
  for (const int source : {0, trace::kAnySource}) {
    MadeJob made = with_sends(2);
    made.take(1, 100, 105, 0xa1, source, 7);
    made.receive(1, 200, 210, 0, 7, 2);
    // Which of several channels the probe took from, nobody knows.
    check_window(made, source == 0 ? Lengths{{2, 2}} : Lengths{{0, 2}});
  }
}

// As the tracers leave it: process 1's trace begins later than process 0's.
trace::Opening& begins_late(MadeJob& made) {
  made.definitions.processes[1].dropped_records = 9;
  return made.definitions.processes[1].opening.emplace();
}

TEST_CASE("messages that probes held before a window have their own sends in it") {
  MadeJob made = with_sends(5);
  trace::Opening& opening = begins_late(made);
  opening.held = {{0, 0, 7, 0, HeldState::kHeld, 0xa1},
                  {0, trace::kAnySource, trace::kAnyTag, 0, HeldState::kHeld, 0xa2}};
  made.receive(1, 200, 210, 0, 7, 3);
  made.mrecv(1, 220, 230, 0xa2, 0, 7, 2);
  made.imrecv(1, 240, 0xa1, 8);
  made.receive(1, 250, 260, 0, 7, 4);
  made.wait_receive(1, 270, 280, 8, 0, 7, 1);
  made.receive(1, 290, 300, 0, 7, 5);
  check_window(made, {{3, 3}, {2, 2}, {4, 4}, {1, 1}, {5, 5}});
}

TEST_CASE("a probe that was open when a window began holds what it returned") {
  MadeJob made = with_sends(3);
  begins_late(made).held = {{0, 0, 7, 0, HeldState::kProbed, 0}};
  made.leave(1, 195, "MPI_Mprobe").object = 0xa1;
  made.receive(1, 200, 210, 0, 7, 2);
  made.receive(1, 220, 230, 0, 7, 3);
  made.mrecv(1, 240, 250, 0xa1, 0, 7, 1);
  check_window(made, {{2, 2}, {3, 3}, {1, 1}});
}

TEST_CASE("a held message whose receive was open when a window began has its own send") {
  for (const bool blocking : {true, false}) {
    MadeJob made = with_sends(3);
    begins_late(made).held = {{0, 0, 7, 0, HeldState::kHeld, 0xa1},
                              {0, 0, 7, 0, HeldState::kReceived, 0xa2}};
    if (blocking) {
      made.message(1, 195, false, 0, 7, 2);
      made.leave(1, 196, "MPI_Mrecv");
    } else {
      made.leave(1, 196, "MPI_Imrecv").request = 9;
      made.wait_receive(1, 197, 200, 9, 0, 7, 2);
    }
    made.receive(1, 210, 220, 0, 7, 3);
    made.mrecv(1, 240, 250, 0xa1, 0, 7, 1);
    check_window(made, {{2, 2}, {3, 3}, {1, 1}});
  }
}

TEST_CASE("a held message that was sent before both windows began has no other send") {
  MadeJob made(2);
  begins_late(made).held = {{0, 0, 7, 0, HeldState::kHeld, 0xa1}};
  made.definitions.processes[0].dropped_records = 9;
  made.definitions.processes[0].opening.emplace().channels = {{0, 1, 7, 1, 0}};
  made.send(0, 10, 15, 1, 7, 2);
  made.receive(1, 200, 210, 0, 7, 2);
  made.mrecv(1, 220, 230, 0xa1, 0, 7, 1);
  check_window(made, {{2, 2}, {0, 1}});
}

// As with PERUSE, where a blocking receive has a request that no other call names.
TEST_CASE("a blocking receive in a window that has a request was not posted before the window") {
  MadeJob made = with_sends(2);
  begins_late(made).held = {{0, 0, 7, 0, HeldState::kHeld, 0xa1}};
  MadeJob::about(made.enter(1, 200, "MPI_Recv"), 0, 7, 2);
  made.arrive(1, 205, 0xb1, 0, 7, 2);
  made.leave(1, 210, "MPI_Recv");
  made.mrecv(1, 240, 250, 0xa1, 0, 7, 1);
  check_window(made, {{2, 2}, {1, 1}});
}

TEST_CASE("nor was an MPI_Sendrecv that has a request") {
  MadeJob made = with_sends(3);
  begins_late(made);
  made.take(1, 100, 105, 0xa1, 0, 7);
  trace::Event& both = made.enter(1, 200, "MPI_Sendrecv");
  MadeJob::about(both, 0, 8, 2);
  both.peer2 = 0;
  both.tag2 = 7;
  made.arrive(1, 205, 0xb1, 0, 7, 2);
  made.leave(1, 210, "MPI_Sendrecv");
  made.mrecv(1, 240, 250, 0xa1, 0, 7, 1);
  check_window(made, {{2, 2}, {1, 1}});
}

// Of two that were sent in the sender's window, the first is held and the second was received. So neither
// is known, but all others are.
TEST_CASE(
    "a held message that another has overtaken before the window is not joined with that one's "
    "send") {
  MadeJob made = with_sends(4);
  trace::Opening& opening = begins_late(made);
  opening.channels = {{0, 0, 7, 0, 1}};
  opening.held = {{0, 0, 7, 0, HeldState::kHeld, 0xa1}};
  made.receive(1, 200, 210, 0, 7, 3);
  made.mrecv(1, 240, 250, 0xa1, 0, 7, 1);
  made.receive(1, 260, 270, 0, 7, 4);
  check_window(made, {{3, 3}, {0, 1}, {4, 4}});
}

TEST_CASE(
    "a held message and a receive of unknown order, both from before a window, are not joined") {
  MadeJob made = with_sends(3);
  begins_late(made).held = {{0, 0, 7, 0, HeldState::kHeld, 0xa1}};
  made.receive(1, 200, 210, 0, 7, 3);
  made.enter(1, 220, "MPI_Wait").request = 9;  // that nobody saw posted
  made.arrive(1, 225, 9, 0, 7, 2);
  made.leave(1, 230, "MPI_Wait");
  made.mrecv(1, 240, 250, 0xa1, 0, 7, 1);
  check_window(made, {{3, 3}, {0, 2}, {0, 1}});
}

TEST_CASE("in a trace without handles, held messages have their places where they are received") {
  MadeJob made = with_sends(2);
  made.take(1, 100, 105, 0, 0, 7);
  made.take(1, 110, 115, 0, 0, 7);
  made.mrecv(1, 200, 210, 0, 0, 7, 2);
  made.mrecv(1, 220, 230, 0, 0, 7, 1);
  CHECK(joined_lengths(made) == Lengths{{1, 2}, {2, 1}});
}

TEST_CASE("a probe waits for the message that it finds while another is held") {
  MadeJob made(2);
  MadeJob::about(made.enter(1, 100, "MPI_Probe"), 0, 7, 0);
  made.leave(1, 105, "MPI_Probe");
  made.take(1, 110, 115, 0xa1, 0, 7);
  MadeJob::about(made.enter(1, 200, "MPI_Probe"), 0, 7, 0);
  made.leave(1, 700, "MPI_Probe");
  made.take(1, 710, 715, 0xa2, 0, 7);
  made.mrecv(1, 720, 730, 0xa2, 0, 7);
  made.mrecv(1, 740, 750, 0xa1, 0, 7);
  made.send(0, 50, 60, 1, 7);
  made.send(0, 600, 610, 1, 7);
  check(waits_of(made), {{WaitKind::kLateSender, 1, 0, 400}});
  check_edges(made);
}

TEST_CASE("a sender waits for the receive of its own message, not of one that was received first") {
  MadeJob made(2);
  made.isend(0, 10, 1, 1, 7, 1 << 20);
  made.isend(0, 20, 2, 1, 7, 1 << 21);
  made.wait(0, 40, 320, 2);
  made.wait(0, 330, 820, 1);
  made.take(1, 100, 105, 0xa1, 0, 7);
  made.take(1, 110, 115, 0xa2, 0, 7);
  made.mrecv(1, 300, 310, 0xa2, 0, 7, 1 << 21);
  made.mrecv(1, 800, 810, 0xa1, 0, 7, 1 << 20);
  check(waits_of(made), {{WaitKind::kLateReceiver, 0, 1, (300 - 40) + (800 - 330)}});
}

}  // namespace
}  // namespace fathom::test
