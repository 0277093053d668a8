// SPDX-License-Identifier: BSD-3-Clause
// Every record of every thread is in the trace, or counted as lost: threads that end, more threads
// than there are numbers, full memory, and a file that takes no more.
#include <doctest/doctest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "profiler/recording/drain.h"
#include "profiler/recording/recorder.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/trace/files.h"
#include "trace/reader.h"

using namespace fathom;
using namespace fathom::test;
using profiler::Recorder;
using profiler::Stream;
using trace::EventKind;

namespace {

constexpr std::size_t kTwoChunks = 2 * Recorder::kChunkBytes;
// The words of one chunk, each a record without payload.
constexpr std::uint32_t kChunkful = Recorder::kChunkBytes / 8;

// Appends `count` records numbered on from `first`, as a wrapper does.
void append(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    Stream* stream = Recorder::stream();
    REQUIRE(stream != nullptr);
    Recorder::append(*stream, profiler::Ticks::now(), trace::RecordKind::kProcessor, first + i);
  }
}

void in_a_thread(const std::function<void()>& work) { std::thread(work).join(); }

struct Events {
  std::vector<std::uint32_t> numbers;  // of the records that are there, in order of time
  std::uint32_t steps = 0;             // events kTransfer
  std::set<std::uint32_t> threads;
  std::uint64_t lost = 0;  // by the events kLost
  trace::Process process;
};

// An object that lives until the program exits, because threads that end later still look at it.
template <typename T>
T& lasting() {
  static std::deque<T> all;
  return all.emplace_back();
}

// One process that records into a folder.
class Recording {
 public:
  explicit Recording(std::size_t memory_bytes)
      : recorder(lasting<Recorder>()), drain(lasting<profiler::Drain>()) {
    REQUIRE(file_.open(trace_path(folder_.path(), 0, ".trace").c_str(), kTraceJob, 0));
    REQUIRE(
        recorder.open(trace_path(folder_.path(), 0, ".live").c_str(), kTraceJob, 0, memory_bytes));
    define("");
    recorder.start();
  }

  void start_drain(std::uint64_t size_cap = 0) {
    REQUIRE(drain.start(recorder, file_, size_cap, nullptr));
  }

  // Ends as at MPI_Finalize, and returns what a reader finds.
  Events finish() {
    recorder.stop();
    drain.stop();
    recorder.give_back_room();
    define("lost " + std::to_string(recorder.lost()) + "\n");
    REQUIRE(file_.finish());
    recorder.close(true);
    return read();
  }

  Events read() const {
    const auto trace = trace::Trace::open(folder_.path());
    REQUIRE(trace.ok());
    Events events;
    events.process = trace->definitions().processes.at(0);
    trace::EventCursor cursor = trace->events(0);
    for (trace::Event event; cursor.next(event);) {
      events.threads.insert(event.thread);
      if (event.kind == EventKind::kProcessor) events.numbers.push_back(event.code);
      if (event.kind == EventKind::kTransfer) ++events.steps;
      if (event.kind == EventKind::kLost) events.lost += event.count;
    }
    return events;
  }

  std::string file(const std::string& extension) const {
    return trace_path(folder_.path(), 0, extension);
  }

  Recorder& recorder;
  profiler::Drain& drain;

 private:
  void define(const std::string& text) {
    const std::string rows = definitions_rows(0, 1, text);
    trace::FrameHeader header{};
    header.kind = trace::FrameKind::kDefinitions;
    REQUIRE(file_.append(header, rows.data(), rows.size(), nullptr));
  }

  Scratch folder_;
  trace::FrameFile& file_ = lasting<trace::FrameFile>();
};

std::vector<std::uint32_t> numbers_to(std::uint32_t end) {
  std::vector<std::uint32_t> numbers(end);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

TEST_CASE("all records of 5,000 consecutive threads fit into the memory of four") {
  constexpr std::uint32_t kThreads = 5000;
  Recording recording(2 * kTwoChunks);
  recording.start_drain();
  for (std::uint32_t i = 0; i < kThreads; ++i) in_a_thread([i] { append(2 * i, 2); });
  const Events events = recording.finish();
  CHECK(events.numbers == numbers_to(2 * kThreads));
  CHECK(events.process.lost_records == 0);
  CHECK(events.lost == 0);
}

TEST_CASE("a thread takes over the number and chunk of one that has ended") {
  Recording recording(kTwoChunks);
  for (std::uint32_t i = 0; i < 100; ++i) in_a_thread([i] { append(i, 1); });
  CHECK(recording.recorder.streams() == 1);
  CHECK(recording.recorder.chunks_opened() == 1);
  recording.start_drain();
  CHECK(recording.finish().threads == std::set<std::uint32_t>{0});
}

TEST_CASE("a chunk that is used again holds its new records alone") {
  Recording recording(kTwoChunks);
  const auto chunk_of_a_thread = [&](std::uint32_t count) {
    in_a_thread([count] { append(0, count); });
    recording.recorder.take_from_ended();
    return recording.recorder.next_full();
  };
  const auto records_in = [](const trace::LiveChunkHeader* chunk) {
    std::uint32_t records = 0;
    std::uint64_t last_ticks = 0;
    Recorder::used_words(chunk, &records, &last_ticks);
    return records;
  };
  trace::LiveChunkHeader* chunk = chunk_of_a_thread(1000);
  REQUIRE(chunk != nullptr);
  CHECK(records_in(chunk) == 1000);
  recording.recorder.recycle(chunk);
  CHECK(records_in(chunk) == 0);
  CHECK(chunk_of_a_thread(3) == chunk);
  CHECK(records_in(chunk) == 3);
  recording.start_drain();
  recording.finish();
}

TEST_CASE("the drain takes chunks of ended threads while the program continues") {
  Recording recording(kTwoChunks);
  in_a_thread([] { append(0, 3); });
  CHECK(recording.recorder.next_full() == nullptr);
  recording.recorder.take_from_ended();
  trace::LiveChunkHeader* chunk = recording.recorder.next_full();
  REQUIRE(chunk != nullptr);
  std::uint32_t records = 0;
  std::uint64_t last_ticks = 0;
  Recorder::used_words(chunk, &records, &last_ticks);
  CHECK(records == 3);
  in_a_thread([] { append(3, 1); });  // the same number, another chunk
  recording.start_drain();
  const Events events = recording.finish();
  CHECK(events.numbers == numbers_to(4));
  CHECK(events.threads == std::set<std::uint32_t>{0});
}

TEST_CASE(
    "records of threads without a number are counted, and reported by the thread that gets one "
    "next") {
  Recording recording(kTwoChunks);
  std::atomic<std::uint32_t> attached{0};
  std::atomic<bool> one_may_end{false}, all_may_end{false};
  struct Shared {
    std::atomic<std::uint32_t>& attached;
    std::atomic<bool>&one, &all;
  } shared{attached, one_may_end, all_may_end};
  const auto hold_a_number = [](void* with) -> void* {
    auto& own = *static_cast<Shared*>(with);
    Stream* stream = Recorder::stream();
    own.attached.fetch_add(1);
    (stream->thread == 7 ? own.one : own.all).wait(false);
    return nullptr;
  };
  std::vector<pthread_t> threads(Recorder::kMaxStreams);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, std::size_t{64} << 10);
  for (pthread_t& thread : threads)
    REQUIRE(pthread_create(&thread, &small, hold_a_number, &shared) == 0);
  while (attached.load() < threads.size()) std::this_thread::yield();

  in_a_thread([] { append(100, 5); });  // ends without ever having had a number
  CHECK(recording.recorder.lost() == 5);
  in_a_thread([&] {
    append(200, 3);
    CHECK(recording.recorder.lost() == 8);
    one_may_end = true;
    one_may_end.notify_all();
    while (Recorder::stream()->thread == profiler::kNoNumber) std::this_thread::yield();
    CHECK(Recorder::stream()->thread == 7);
    append(0, 2);
  });
  all_may_end = true;
  all_may_end.notify_all();
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  in_a_thread([] { append(2, 1); });
  recording.start_drain();
  const Events events = recording.finish();
  CHECK(recording.recorder.streams() == Recorder::kMaxStreams);
  CHECK(events.numbers == numbers_to(3));
  CHECK(events.process.lost_records == 8);
  CHECK(events.lost == 3);  // the other five belong to no number
}

TEST_CASE(
    "records lost to full memory are counted, and marked in the trace where they are missing") {
  Recording recording(kTwoChunks);
  in_a_thread([&] {
    append(0, 3 * kChunkful);
    std::thread([] { append(900'000, 4); }).join();  // never had a chunk
  });
  const std::uint64_t lost = recording.recorder.lost();
  CHECK(lost > kChunkful);
  recording.start_drain();
  const Events events = recording.finish();
  CHECK(events.numbers.size() + lost == 3 * kChunkful + 4);
  CHECK(events.process.lost_records == lost);
  CHECK(events.lost == lost);
  CHECK(events.threads == std::set<std::uint32_t>{0, 1});
}

TEST_CASE("a loss in the middle is recorded before the next record") {
  Recording recording(kTwoChunks);
  in_a_thread([&] {
    append(0, 3 * kChunkful);
    const std::uint64_t lost = recording.recorder.lost();
    recording.start_drain();
    while (recording.recorder.next_full() != nullptr) std::this_thread::yield();
    append(7, 1);
    CHECK(recording.recorder.lost() == lost);
  });
  const std::uint64_t lost = recording.recorder.lost();
  const Events events = recording.finish();
  CHECK(events.lost == lost);
  CHECK(events.numbers.back() == 7);
}

TEST_CASE("records beyond the allowed file size are counted as lost") {
  Recording recording(4 * kTwoChunks);
  in_a_thread([] { append(0, 7 * kChunkful); });
  recording.start_drain(1);
  const Events events = recording.finish();
  CHECK(events.numbers.empty());
  CHECK(events.process.lost_records == 7 * kChunkful);
  CHECK(recording.drain.over_cap() == 7 * kChunkful);
  CHECK(recording.drain.unwritten() == 0);
}

TEST_CASE("when the file cannot grow, every record is read or counted as lost") {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  Recording recording(4 * kTwoChunks);
  in_a_thread([] { append(0, 7 * kChunkful); });
  const rlimit limit{4096, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  recording.start_drain();
  recording.recorder.stop();
  recording.drain.stop();
  setrlimit(RLIMIT_FSIZE, &before);
  const Events events = recording.finish();
  CHECK(events.process.complete);
  CHECK(events.process.lost_records == recording.drain.unwritten());
  CHECK(recording.drain.unwritten() > 6 * kChunkful);
  CHECK(events.numbers.size() + recording.drain.unwritten() == 7 * kChunkful);
  CHECK(recording.drain.why_unwritten() == EFBIG);
}

TEST_CASE("a step joins the record of the one before only if nothing is between them") {
  using trace::TransferStep;
  Recording recording(kTwoChunks);
  const auto add = [](TransferStep step, std::uint64_t request, profiler::Follows is,
                      std::uint32_t follows) {
    Stream& stream = *Recorder::stream();
    const bool joined = Recorder::add_to_last(stream, follows, request, trace::also(step));
    if (!joined)
      Recorder::append(stream, profiler::Ticks::now(), trace::RecordKind::kTransfer,
                       static_cast<std::uint32_t>(step), request);
    Recorder::last_was(stream, is);
    return joined;
  };
  in_a_thread([&] {
    CHECK_FALSE(add(TransferStep::kActivate, 7, profiler::kActivated, 0));
    CHECK(add(TransferStep::kPosted, 7, profiler::kCompleted, profiler::kActivated));
    CHECK_FALSE(add(TransferStep::kMatchedExpected, 7, profiler::kMatched, 0));
    CHECK(add(TransferStep::kBegin, 7, profiler::kBegun, profiler::kMatched));
    const auto take_begin = [](std::uint64_t request) {
      return Recorder::take_from_last(*Recorder::stream(), profiler::kBegun, request,
                                      trace::also(TransferStep::kBegin));
    };
    CHECK_FALSE(take_begin(8));  // another's
    CHECK(take_begin(7));
    CHECK_FALSE(add(TransferStep::kEnd, 8, profiler::kEnded, profiler::kBegun));  // another's
    append(0, 1);
    CHECK_FALSE(add(TransferStep::kComplete, 8, profiler::kCompleted, profiler::kEnded));
    // The memory is full: a lost record, to which no step can be added, nor to the one before it.
    append(1, 3 * kChunkful);
    CHECK_FALSE(add(TransferStep::kActivate, 7, profiler::kActivated, 0));
    CHECK_FALSE(add(TransferStep::kPosted, 7, profiler::kCompleted, profiler::kActivated));
  });
  recording.start_drain();
  const Events events = recording.finish();
  CHECK(events.steps == 5);
  CHECK(events.numbers.size() + events.process.lost_records == 1 + 3 * kChunkful + 2);
}

TEST_CASE("the record of a call tells the message that it sends if it sends what it was given") {
  Recording recording(kTwoChunks);
  const auto enter = [](std::uint64_t where, std::uint64_t what, std::uint64_t site) {
    Stream& stream = *Recorder::stream();
    Recorder::append(stream, profiler::Ticks::now(), trace::RecordKind::kEnter, 3 | trace::kHasSite,
                     where, what, site);
    Recorder::last_entered(stream, 3);
  };
  in_a_thread([&] {
    enter(11, 12, 13);
    CHECK_FALSE(Recorder::add_to_entered(*Recorder::stream(), 11, 99));
    CHECK_FALSE(Recorder::add_to_entered(*Recorder::stream(), 99, 12));
    CHECK(Recorder::add_to_entered(*Recorder::stream(), 11, 12));
    enter(11, 12, 13);
    append(0, 1);
    CHECK_FALSE(Recorder::add_to_entered(*Recorder::stream(), 11, 12));
    Stream& stream = *Recorder::stream();
    Recorder::append(stream, profiler::Ticks::now(), trace::RecordKind::kEnter, 3, 12);
    Recorder::last_entered(stream, 1);  // too short: its words belong to the records before it
    CHECK_FALSE(Recorder::add_to_entered(stream, 11, 12));
  });
  recording.start_drain();
  CHECK(recording.finish().process.lost_records == 0);
}

TEST_CASE("a killed process leaves its count of lost records in its memory") {
  Recording recording(kTwoChunks);
  in_a_thread([] { append(0, 3 * kChunkful); });
  const Events events = recording.read();
  CHECK_FALSE(events.process.complete);
  CHECK(events.process.lost_records == recording.recorder.lost());
  CHECK(events.numbers.size() + events.process.lost_records == 3 * kChunkful);
}

TEST_CASE("a trace's end has the room that its memory had") {
  Recording recording(kTwoChunks);
  in_a_thread([] { append(0, 10); });
  recording.start_drain();
  recording.recorder.stop();
  recording.drain.stop();
  CHECK(std::filesystem::file_size(recording.file(".live")) > kTwoChunks);
  recording.recorder.give_back_room();
  CHECK(std::filesystem::file_size(recording.file(".live")) == Recorder::kHeaderBytes);
  const Events events = recording.read();  // killed at this moment
  CHECK(events.numbers == numbers_to(10));
  CHECK(events.process.problems.empty());
}

namespace {

std::atomic<bool> window_is_over{false};
Recorder* recorder_of_windows = nullptr;
profiler::Drain* drain_of_window = nullptr;

void end_window_of_test() {
  recorder_of_windows->stop();
  recorder_of_windows->shut();
  drain_of_window->take_rest_of_window();
}

// Records into `recorder` as into a window of a job that only counts, and returns what a reader finds.
// `during` runs while it records, `after` when it has ended and is not closed.
Events one_window(Recorder& recorder, const std::function<void()>& during,
                  const std::function<void()>& after) {
  const Scratch folder;
  auto& file = lasting<trace::FrameFile>();
  REQUIRE(file.open(trace_path(folder.path(), 0, ".trace").c_str(), kTraceJob, 0));
  REQUIRE(recorder.open(trace_path(folder.path(), 0, ".live").c_str(), kTraceJob, 0, kTwoChunks));
  const auto define = [&file](const std::string& text) {
    const std::string rows = definitions_rows(0, 1, text);
    trace::FrameHeader header{};
    header.kind = trace::FrameKind::kDefinitions;
    return file.append(header, rows.data(), rows.size(), nullptr);
  };
  REQUIRE(define(""));
  recorder.start();
  recorder_of_windows = &recorder;
  drain_of_window = &lasting<profiler::Drain>();
  window_is_over = false;
  drain_of_window->end_by_itself([] { return window_is_over.load(); }, end_window_of_test);
  REQUIRE(drain_of_window->start(recorder, file, 0, nullptr));
  during();
  window_is_over = true;
  drain_of_window->wait_for_end();
  after();
  REQUIRE(define("lost " + std::to_string(recorder.lost()) + "\n"));
  REQUIRE(file.finish());
  REQUIRE(recorder.close_until_opened_again(true));
  const auto trace = trace::Trace::open(folder.path());
  REQUIRE(trace.ok());
  Events events;
  trace::EventCursor cursor = trace->events(0);
  for (trace::Event event; cursor.next(event);) {
    if (event.kind == EventKind::kProcessor) events.numbers.push_back(event.code);
    if (event.kind == EventKind::kLost) events.lost += event.count;
  }
  CHECK(cursor.problems().empty());
  return events;
}

}  // namespace

// A thread gets its stream where its call begins, and appends the call's end even if the window ended.
TEST_CASE("the end of a call is in no window if its window has ended") {
  auto& recorder = lasting<Recorder>();
  Stream* held = nullptr;
  const auto call_ends = [&held] {
    Recorder::append(*held, profiler::Ticks::now(), trace::RecordKind::kProcessor, 99);
  };
  for (std::uint32_t window = 0; window < 3; ++window) {
    const Events events = one_window(
        recorder,
        [&held] {
          append(0, 5);
          held = Recorder::stream();
        },
        call_ends);
    call_ends();
    CHECK(events.numbers == numbers_to(5));
    CHECK(events.lost == 0);
  }
}

TEST_CASE("what was lost at the end of a window is in it") {
  auto& recorder = lasting<Recorder>();
  const Events events = one_window(
      recorder,
      [] {
        in_a_thread([] {
          append(0, 5);
          Recorder::stream()->lost += 7;  // as where there is no chunk
        });
      },
      [] {});
  CHECK(events.numbers == numbers_to(5));
  CHECK(events.lost == 7);
}

TEST_CASE("threads append while windows begin and end") {
  auto& recorder = lasting<Recorder>();
  std::atomic<bool> goes_on{true};
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&goes_on] {
      Stream* held = nullptr;
      while (goes_on.load()) {
        if (Stream* stream = Recorder::stream()) held = stream;
        if (held == nullptr) continue;
        Recorder::append(*held, profiler::Ticks::now(), trace::RecordKind::kProcessor, 1, 2);
      }
    });
  }
  std::size_t events = 0;
  for (int window = 0; window < 30; ++window)
    events += one_window(
                  recorder, [] {}, [] {})
                  .numbers.size();
  goes_on = false;
  for (std::thread& thread : threads) thread.join();
  CHECK(events > 0);
}
