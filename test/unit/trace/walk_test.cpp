// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "test/unit/base/scratch_folder.h"
#include "test/unit/trace/job.h"
#include "trace/join/walk.h"
#include "trace/writer.h"

namespace fathom::test {
namespace {

// Everything that a walk reports, one line each.
struct Recorder : trace::Visitor {
  std::vector<std::string> lines;
  std::vector<trace::Transfer> transfers;

  static std::string at(const trace::Place& place) { return std::to_string(place.rank) + ": "; }
  void enter(const trace::Place& place, const trace::Call& call) override {
    lines.push_back(at(place) + "enter " + std::to_string(call.enter.function) + " depth " +
                    std::to_string(call.depth));
  }
  void leave(const trace::Place& place, const trace::Call& call) override {
    lines.push_back(at(place) + "leave " + std::to_string(call.enter.function) +
                    (call.cut ? " cut" : "") + " after " +
                    std::to_string(call.leave.time_ns - call.enter.time_ns));
  }
  void message(const trace::Place& place, const trace::Message& message) override {
    const bool sent = message.event.kind == trace::EventKind::kMessageSent;
    lines.push_back(at(place) + (sent ? "sent" : "received") +
                    (message.nonblocking ? " nonblocking" : "") +
                    (message.hidden ? " hidden" : ""));
  }
  void request_started(const trace::Place& place, const trace::Request& request) override {
    lines.push_back(at(place) + "started " + std::to_string(request.number));
  }
  void request_completed(const trace::Place& place, const trace::Request& request,
                         const trace::Event&) override {
    lines.push_back(at(place) + "completed " + std::to_string(request.number) +
                    (request.has_message ? " with message" : ""));
  }
  void transfer(const trace::Transfer& transfer) override { transfers.push_back(transfer); }
};

TEST_CASE("a walk pairs calls, follows requests and joins messages") {
  Scratch scratch;
  write_job(scratch.path());
  const auto trace = trace::Trace::open(scratch.path());
  REQUIRE(trace.ok());
  Recorder one;
  trace::walk_process(*trace, 1, one);
  const std::vector<std::string> expected = {
      "1: enter 1 depth 0",           "1: started 77",
      "1: leave 1 after 10",  // Irecv
      "1: enter 3 depth 0",           "1: received nonblocking",
      "1: completed 77 with message", "1: leave 3 after 200",
      "1: enter 4 depth 0",           "1: received hidden",
      "1: leave 4 after 100",  // Bcast
      "1: enter 0 depth 0",           "1: sent",
      "1: leave 0 cut after 5"};
  CHECK(one.lines == expected);

  Recorder all;
  const trace::WalkSummary summary = trace::walk_job(*trace, all);
  REQUIRE(all.transfers.size() == 2);
  CHECK(summary.unmatched_sends == 1);
  CHECK(summary.unmatched_receives == 0);
  CHECK(all.transfers[0].key == trace::MessageKey{0, 0, 1, 5});
  CHECK(all.transfers[0].sent.time_ns == 110);
  CHECK(all.transfers[0].received.time_ns == 200);
  CHECK(all.transfers[1].key == trace::MessageKey{0, 0, 1, -10});
  CHECK(all.transfers[1].received.message_class == 1);
}

TEST_CASE(
    "sends whose requests share one number, as Open MPI gives those complete at once, stay apart") {
  Scratch scratch;
  auto writer = trace::TraceWriter::create(scratch.path(), job_definitions());
  REQUIRE(writer.ok());
  JobEvents job;
  for (const std::uint64_t at : {100, 200}) {
    JobEvents::about(job.enter(at, kJobIsend), 1, 5, 8);
    job.message(at + 10, true, 1, 5, 8, 0, 0);
    job.leave(at + 20, kJobIsend).request = 9;
  }
  JobEvents::about(job.enter(230, kJobIsend), 1, 5, 8);
  job.message(240, true, 1, 5, 8, 0, 0);
  job.leave(250, kJobIsend);  // complete at once, without a number
  job.enter(300, kJobWait).request = 9;
  job.completed(310, 9);
  job.completed(320, 9);
  job.completed(330, 9);  // of nothing that is known
  job.leave(340, kJobWait);
  for (const trace::Event& event : job.events) writer->append(0, event);
  REQUIRE(writer->finish().ok());
  struct Completions : trace::Visitor {
    std::vector<std::uint64_t> sent;
    int others = 0;
    void request_completed(const trace::Place&, const trace::Request& request,
                           const trace::Event&) override {
      sent.push_back(request.sent);
    }
    void other(const trace::Place&, const trace::Event&) override { ++others; }
  } seen;
  const auto trace = trace::Trace::open(scratch.path());
  REQUIRE(trace.ok());
  trace::walk_process(*trace, 0, seen);
  CHECK(seen.sent == std::vector<std::uint64_t>{3, 1, 2});
  CHECK(seen.others == 1);
}

// The first receive names no tag, so both messages could be its own; it was posted first, so the
// message that was sent first is. It completes last.
TEST_CASE("a receive posted first takes the first message even if it completes last") {
  Scratch scratch;
  auto writer = trace::TraceWriter::create(scratch.path(), job_definitions());
  REQUIRE(writer.ok());
  JobEvents sender, receiver;
  for (const std::uint64_t at : {100, 200}) {
    JobEvents::about(sender.enter(at, kJobSend), 1, 5, 8);
    sender.message(at + 10, true, 1, 5, 8, 0, 0);
    sender.leave(at + 20, kJobSend);
  }
  for (const std::uint64_t request : {71, 72}) {
    JobEvents::about(receiver.enter(request, kJobIrecv), 0, request == 71 ? trace::kAnyTag : 5, 8);
    receiver.leave(request, kJobIrecv).request = request;
  }
  receiver.message(300, false, 0, 5, 8, 0, 72);
  receiver.completed(310, 72);
  receiver.message(400, false, 0, 5, 8, 0, 71);
  receiver.completed(410, 71);
  for (const trace::Event& event : sender.events) writer->append(0, event);
  for (const trace::Event& event : receiver.events) writer->append(1, event);
  REQUIRE(writer->finish().ok());
  const auto trace = trace::Trace::open(scratch.path());
  REQUIRE(trace.ok());
  Recorder all;
  const trace::WalkSummary summary = trace::walk_job(*trace, all);
  REQUIRE(all.transfers.size() == 2);
  CHECK(all.transfers[0].sent.time_ns == 210);
  CHECK(all.transfers[0].received.time_ns == 300);
  CHECK(all.transfers[1].sent.time_ns == 110);
  CHECK(all.transfers[1].received.time_ns == 400);
  CHECK(summary.unmatched_sends == 0);
  CHECK(summary.unmatched_receives == 0);
}

TEST_CASE("receives that no call completes are dropped") {
  Scratch scratch;
  auto writer = trace::TraceWriter::create(scratch.path(), uncompleted_definitions());
  REQUIRE(writer.ok());
  for (const trace::Event& event : uncompleted_events()) writer->append(1, event);
  REQUIRE(writer->finish().ok());
  struct Drops : trace::Visitor {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;  // request, time
    void request_completed(const trace::Place&, const trace::Request&,
                           const trace::Event&) override {
      FAIL("");
    }
    void request_dropped(const trace::Place&, const trace::Request& request,
                         std::uint64_t time_ns) override {
      CHECK(request.message.bytes == 8);
      seen.emplace_back(request.number, time_ns);
    }
  } drops;
  const auto trace = trace::Trace::open(scratch.path());
  REQUIRE(trace.ok());
  trace::walk_process(*trace, 1, drops);
  CHECK(drops.seen ==
        std::vector<std::pair<std::uint64_t, std::uint64_t>>{{77, 130}, {88, 310}, {88, 320}});
}

}  // namespace
}  // namespace fathom::test
