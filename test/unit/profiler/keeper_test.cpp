// SPDX-License-Identifier: BSD-3-Clause
// What the keeper of a flight recorder leaves: the last records, all definitions, and the sums of
// what it let go.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "profiler/clocks/moment.h"
#include "profiler/keeper/before_window.h"
#include "profiler/keeper/kept_memory.h"
#include "profiler/keeper/window_file.h"
#include "profiler/recording/recorder.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/trace/files.h"
#include "trace/reader.h"

using namespace fathom;
using namespace fathom::test;
using profiler::Recorder;
using trace::RecordKind;

namespace {

constexpr std::uint32_t kBarrier = 3;  // definitions_rows()
constexpr std::uint32_t kInPhase = 9;

// All are kept to the end, because a thread that ends later still looks at its recorder.
Recorder& next_recorder() {
  static std::vector<std::unique_ptr<Recorder>> all;
  return *all.emplace_back(std::make_unique<Recorder>());
}

// A process that records into memory, and its keeper.
struct Kept {
  Kept() : definitions(memfd_create("definitions", 0)) {
    Recorder::forget();  // the one of the test before
    REQUIRE(recorder.open_in_memory(kTraceJob, 0, 4 * Recorder::kChunkBytes));
    REQUIRE(file.open(definitions, kTraceJob, 0));
    define("class 0 0 point-to-point\nclass 5 0 point-to-point\nphase 9 solve\n");
    recorder.start();
    REQUIRE(memory.open(recorder.descriptor()));
    before.learn(profiler::definitions_in(definitions));
  }

  void define(const std::string& text) {
    const std::string rows = definitions_rows(0, 2, text);
    trace::FrameHeader header{};
    header.kind = trace::FrameKind::kDefinitions;
    REQUIRE(file.append(header, rows.data(), rows.size(), nullptr));
  }

  template <typename... Words>
  void append(RecordKind kind, std::uint32_t small, Words... words) {
    Recorder::append(*Recorder::stream(), ++ticks, kind, small, words...);
  }

  // As the keeper does every few milliseconds.
  void let_go() {
    for (const profiler::KeptChunk& chunk : memory.surplus()) {
      before.take(chunk);
      memory.let_go(chunk);
    }
  }

  // More records than there is memory for: all of before is dropped. They are numbered from 0.
  void pass_window(std::uint32_t records = 60'000) {
    for (std::uint32_t i = 0; i < records; ++i) {
      append(RecordKind::kProcessor, i);
      if (i % 1000 == 0) let_go();
    }
  }

  base::Result<trace::Trace> window() {
    REQUIRE(profiler::write_window(folder.path(), memory, before, definitions,
                                   {profiler::moment_now()}));
    return trace::Trace::open(folder.path());
  }

  Scratch folder;
  Recorder& recorder = next_recorder();
  trace::FrameFile file;
  profiler::KeptMemory memory;
  profiler::BeforeWindow before;
  int definitions;
  std::uint64_t ticks = 0;
};

std::vector<trace::Event> events_in(const trace::Trace& trace) {
  std::vector<trace::Event> events;
  trace::EventCursor cursor = trace.events(0);
  for (trace::Event event; cursor.next(event);) events.push_back(event);
  return events;
}

}  // namespace

TEST_CASE("a flight recorder keeps the last records and counts the others") {
  constexpr std::uint32_t kRounds = 60'000;
  Kept kept;
  kept.pass_window(kRounds);
  const auto trace = kept.window();
  REQUIRE(trace.ok());
  const trace::Process& process = trace->definitions().processes.at(0);
  const std::vector<trace::Event> events = events_in(*trace);
  REQUIRE(!events.empty());
  CHECK(process.dropped_records == kRounds - events.size());
  CHECK(process.lost_records == 0);
  for (std::size_t i = 0; i < events.size(); ++i) {
    REQUIRE(events[i].kind == trace::EventKind::kProcessor);
    REQUIRE(events[i].code == *process.dropped_records + i);
  }
}

TEST_CASE("a window says what was sent, received and entered before it, and which phase is open") {
  constexpr std::uint64_t kRounds = 20'000;
  constexpr std::uint64_t kToRank1 = std::uint64_t{1} << 32, kTag7 = 7;
  Kept kept;
  kept.append(RecordKind::kPhaseBegin, kInPhase);
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    kept.append(RecordKind::kMessageSent, 5, kToRank1, kTag7 | i << 32);
    kept.append(RecordKind::kMessageReceived, 5, kToRank1, kTag7 | i << 32);
    kept.append(RecordKind::kEnter, kBarrier, 0);
    kept.append(RecordKind::kLeave, kBarrier);
    if (i % 200 == 0) kept.let_go();
  }
  const profiler::BeforeWindow& before = kept.before;
  REQUIRE(before.exact());
  REQUIRE(before.sequences().size() == 1);
  const std::uint64_t barriers = before.sequences()[0].operations;
  REQUIRE(kept.before.channels().size() == 1);
  const trace::OpeningChannelRow channel = kept.before.channels()[0];
  CHECK(channel.communicator == 0);
  CHECK(channel.peer == 1);
  CHECK(channel.tag == 7);
  CHECK(barriers > 0);

  const auto trace = kept.window();
  REQUIRE(trace.ok());
  const std::vector<trace::Event> events = events_in(*trace);
  REQUIRE(!events.empty());
  CHECK(events.front().kind == trace::EventKind::kPhaseBegin);
  CHECK(trace->definitions().phases.at(events.front().code) == "solve");
  std::uint64_t entered = 0;
  for (const trace::Event& event : events) entered += event.kind == trace::EventKind::kEnter;
  CHECK(barriers + entered == kRounds);
  CHECK(channel.sent >= barriers);
  CHECK(channel.sent <= barriers + 1);
}

TEST_CASE("a message told by the record of its call is counted before a window, and read in it") {
  constexpr std::uint64_t kRounds = 20'000;
  constexpr std::uint64_t kToRank1 = std::uint64_t{1} << 32, kTag7 = 7;
  Kept kept;
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    kept.append(RecordKind::kEnter, kBarrier | trace::kSends, kToRank1, kTag7 | i << 32);
    kept.append(RecordKind::kLeave, kBarrier);
    if (i % 200 == 0) kept.let_go();
  }
  REQUIRE(kept.before.channels().size() == 1);
  const trace::OpeningChannelRow channel = kept.before.channels()[0];
  CHECK(channel.peer == 1);
  CHECK(channel.tag == 7);
  CHECK(channel.sent > 0);
  const auto trace = kept.window();
  REQUIRE(trace.ok());
  const std::vector<trace::Event> events = events_in(*trace);
  std::uint64_t sent = 0;
  for (std::size_t i = 1; i < events.size(); ++i) {
    if (events[i].kind != trace::EventKind::kMessageSent) continue;
    CHECK(events[i - 1].kind == trace::EventKind::kEnter);
    CHECK(events[i].time_ns == events[i - 1].time_ns);
    CHECK(events[i].comm_peer == 1);
    CHECK(events[i].tag == 7);
    CHECK(events[i].bytes == channel.sent + sent++);
  }
  CHECK(sent > 0);
  CHECK(channel.sent + sent == kRounds);
}

TEST_CASE("a window names the messages that probes held before it, and the probe that was open") {
  // Ids of definitions_rows() are below it.
  constexpr std::uint32_t kMprobe = 20, kImprobe = 21, kMrecv = 22;
  constexpr std::uint64_t kFromAny = std::uint64_t{0xffffffff} << 32, kTag7 = 7;
  Kept kept;
  kept.define(
      "function 20 MPI_Mprobe probe enter=comm,peer,tag leave=message\n"
      "function 21 MPI_Improbe probe enter=comm,peer,tag leave=flag,message\n"
      "function 22 MPI_Mrecv receive enter=comm,bytes,message leave=\n");
  kept.before.learn(profiler::definitions_in(kept.definitions));
  const auto take = [&kept](std::uint64_t asked, std::uint64_t message) {
    kept.append(RecordKind::kEnter, kMprobe, asked, kTag7);
    kept.append(RecordKind::kLeave, kMprobe, message);
  };
  take(std::uint64_t{1} << 32, 0xa1);
  take(kFromAny, 0xa2);
  kept.append(RecordKind::kEnter, kImprobe, kFromAny, kTag7);
  kept.append(RecordKind::kLeave, kImprobe, std::uint64_t{0}, std::uint64_t{0});  // nothing found
  take(std::uint64_t{0xfffffffe} << 32, 0xa3);  // of MPI_PROC_NULL
  take(kFromAny, 0xa4);
  kept.append(RecordKind::kEnter, kMrecv, std::uint64_t{8} << 32, std::uint64_t{0xa1});
  take(kFromAny, 0xa1);  // the handle comes again
  kept.append(RecordKind::kEnter, kMrecv, std::uint64_t{8} << 32, std::uint64_t{0xa2});
  kept.append(RecordKind::kLeave, kMrecv);
  kept.append(RecordKind::kEnter, kMrecv, std::uint64_t{8} << 32, std::uint64_t{0xa4});
  kept.append(RecordKind::kEnter, kMprobe, kFromAny, kTag7);
  kept.pass_window();
  const auto trace = kept.window();
  REQUIRE(trace.ok());
  REQUIRE(trace->definitions().processes.at(0).opening);
  const auto& held = trace->definitions().processes[0].opening->held;
  REQUIRE(held.size() == 3);
  const std::uint64_t messages[] = {0xa4, 0xa1, 0};
  using trace::HeldState;
  const HeldState states[] = {HeldState::kReceived, HeldState::kHeld, HeldState::kProbed};
  for (std::size_t i = 0; i < held.size(); ++i) {
    CHECK(held[i].message == messages[i]);
    CHECK(held[i].state == states[i]);
    CHECK(held[i].communicator == 0);
    CHECK(held[i].peer == trace::kAnySource);
    CHECK(held[i].tag == 7);
  }
}

TEST_CASE("a held message that was received before a window in which its call ends is not held") {
  constexpr std::uint32_t kMprobe = 20, kMrecv = 22;
  for (const std::uint64_t tag :
       {std::uint64_t{8}, std::uint64_t{7}}) {  // of another message; its own
    Kept kept;
    kept.define(
        "function 20 MPI_Mprobe probe enter=comm,peer,tag leave=message\n"
        "function 22 MPI_Mrecv receive enter=comm,bytes,message leave=\n");
    kept.before.learn(profiler::definitions_in(kept.definitions));
    kept.append(RecordKind::kEnter, kMprobe, std::uint64_t{0xffffffff} << 32, std::uint64_t{7});
    kept.append(RecordKind::kLeave, kMprobe, std::uint64_t{0xa1});
    kept.append(RecordKind::kEnter, kMrecv, std::uint64_t{8} << 32, std::uint64_t{0xa1});
    kept.append(RecordKind::kMessageReceived, 0, std::uint64_t{1} << 32, tag, std::uint64_t{0xb1});
    kept.pass_window();
    const auto trace = kept.window();
    REQUIRE(trace.ok());
    REQUIRE(trace->definitions().processes.at(0).opening);
    CHECK(trace->definitions().processes[0].opening->held.size() == (tag == 7 ? 0 : 1));
  }
}

TEST_CASE("a window after a loss does not claim to know what came before") {
  Kept kept;
  while (kept.memory.lost() == 0) kept.append(RecordKind::kProcessor, 1);
  kept.let_go();
  kept.pass_window();
  CHECK(!kept.before.exact());
  const auto trace = kept.window();
  REQUIRE(trace.ok());
  CHECK(!trace->definitions().processes.at(0).opening);
  CHECK(events_in(*trace).front().kind == trace::EventKind::kLost);
}

TEST_CASE("without definitions there is nothing to write") {
  Scratch folder;
  Kept kept;
  const int empty = memfd_create("empty", 0);
  CHECK(!profiler::write_window(folder.path(), kept.memory, kept.before, empty,
                                {profiler::moment_now()}));
}
