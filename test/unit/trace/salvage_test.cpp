// SPDX-License-Identifier: BSD-3-Clause
// Intact data are read, whatever happened to the rest; missing data are reported.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "test/unit/base/scratch_folder.h"
#include "test/unit/trace/files.h"
#include "trace/reader.h"

using namespace fathom;
using namespace fathom::test;
using trace::ChunkState;
using trace::EventKind;

namespace {

constexpr std::uint32_t kFrames = 5, kRecords = 20;

struct Written {
  std::string path;
  std::vector<std::uint64_t> offsets;  // of the frames of events
};

// Five frames of twenty events each, numbered on.
Written write_frames(const std::string& folder, bool finished = true, bool compressed = false) {
  TraceFile file(folder, 0);
  file.definitions(definitions_rows(0, 1));
  for (std::uint32_t i = 0; i < kFrames; ++i) {
    file.events(0, i, 1000 + 1000 * i, numbered_records(i * kRecords, kRecords), kRecords,
                compressed);
  }
  if (finished) file.finish();
  return {file.path, file.offsets};
}

struct Read {
  std::vector<std::uint32_t> numbers;  // of the events kProcessor
  std::vector<std::uint64_t> lost;     // counts of the events kLost
  std::vector<std::string> problems;   // found while reading
  trace::Process process;
};

Read read(const std::string& folder) {
  const auto trace = trace::Trace::open(folder);
  REQUIRE_MESSAGE(trace.ok(), (trace.ok() ? "" : trace.error().message));
  Read result;
  result.process = trace->definitions().processes.at(0);
  trace::EventCursor cursor = trace->events(0);
  for (trace::Event event; cursor.next(event);) {
    if (event.kind == EventKind::kProcessor) result.numbers.push_back(event.code);
    if (event.kind == EventKind::kLost) result.lost.push_back(event.count);
  }
  result.problems = cursor.problems();
  CHECK(trace->damaged_frames(0) == result.problems);
  return result;
}

std::vector<std::uint32_t> numbers_without_frame(std::uint32_t left_out) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < kFrames * kRecords; ++i) {
    if (i / kRecords != left_out) numbers.push_back(i);
  }
  return numbers;
}

void change(const std::string& path, std::size_t offset, char with) {
  std::string bytes = contents(path);
  bytes.at(offset) = static_cast<char>(bytes.at(offset) ^ with);
  write_file(path, bytes);
}

}  // namespace

TEST_CASE("an undamaged file is read whole, with and without index and compression") {
  for (const bool finished : {true, false}) {
    for (const bool compressed : {true, false}) {
      const Scratch folder;
      write_frames(folder.path(), finished, compressed);
      const Read all = read(folder.path());
      CHECK(all.numbers == numbers_without_frame(kFrames));
      CHECK(all.lost.empty());
      CHECK(all.process.complete == finished);
      CHECK(all.process.records == kFrames * kRecords);
      CHECK(all.process.problems.empty());
    }
  }
}

TEST_CASE("a flipped bit in a payload costs that frame") {
  for (const bool finished : {true, false}) {
    for (std::uint32_t frame = 0; frame < kFrames; ++frame) {
      const Scratch folder;
      const Written file = write_frames(folder.path(), finished);
      change(file.path, file.offsets[frame] + sizeof(trace::FrameHeader) + 40, 0x10);
      const Read left = read(folder.path());
      CHECK(left.numbers == numbers_without_frame(frame));
      CHECK(left.lost == std::vector<std::uint64_t>{kRecords});
      REQUIRE(left.problems.size() == 1);
      CHECK(left.problems[0].find(file.path + ", byte " + std::to_string(file.offsets[frame])) ==
            0);
      CHECK(left.problems[0].find("20 records are lost") != std::string::npos);
    }
  }
}

TEST_CASE("a flipped bit in a frame's header costs that frame") {
  for (const std::size_t byte : {0, 5, 9, 20, 45, 63}) {
    const Scratch folder, cut;
    const Written file = write_frames(folder.path());
    change(file.path, file.offsets[2] + byte, 0x04);
    const Read left = read(folder.path());  // the index says how many records were there
    CHECK(left.numbers == numbers_without_frame(2));
    CHECK(left.lost == std::vector<std::uint64_t>{kRecords});
    REQUIRE(left.problems.size() == 1);
    CHECK(left.problems[0].find("byte " + std::to_string(file.offsets[2])) != std::string::npos);

    const Written without_index = write_frames(cut.path(), false);
    change(without_index.path, without_index.offsets[2] + byte, 0x04);
    const Read rest = read(cut.path());  // only the gap in the sequence shows it
    CHECK(rest.numbers == numbers_without_frame(2));
    CHECK(rest.lost == std::vector<std::uint64_t>{0});
    REQUIRE(rest.process.problems.size() == 1);
    CHECK(rest.process.problems[0].find("bytes were skipped") != std::string::npos);
  }
}

TEST_CASE("a damaged index or trailer costs nothing") {
  for (const std::size_t from_end : {1, 12, 30, 16 + 48 * 6 + 10}) {
    const Scratch folder;
    const Written file = write_frames(folder.path());
    change(file.path, contents(file.path).size() - from_end, 0x20);
    const Read all = read(folder.path());
    CHECK(all.numbers == numbers_without_frame(kFrames));
    CHECK(all.lost.empty());
    CHECK_FALSE(all.process.complete);
  }
}

TEST_CASE("a file cut anywhere gives every frame before the cut") {
  const Scratch folder;
  const Written file = write_frames(folder.path());
  const std::string whole = contents(file.path);
  std::vector<std::size_t> ends;  // of the frames
  for (std::uint32_t i = 0; i < kFrames; ++i) ends.push_back(file.offsets[i] + 64 + kRecords * 8);
  for (std::size_t size = file.offsets[0]; size < whole.size(); size += 7) {
    write_file(file.path, whole.substr(0, size));
    std::size_t intact = 0;
    while (intact < kFrames && ends[intact] <= size) ++intact;
    const Read left = read(folder.path());
    CHECK(left.numbers.size() == intact * kRecords);
    CHECK_FALSE(left.process.complete);
  }
}

TEST_CASE("a zero-filled part costs only what was in it") {
  const Scratch folder;
  const Written file = write_frames(folder.path(), false);
  std::string bytes = contents(file.path);
  for (std::size_t i = file.offsets[1] + 100; i < file.offsets[3] + 8; ++i) bytes[i] = '\0';
  write_file(file.path, bytes);
  const Read left = read(folder.path());
  CHECK(left.numbers.size() == 2 * kRecords);
  CHECK(left.numbers.front() == 0);
  CHECK(left.numbers.back() == kFrames * kRecords - 1);
  // The header of frame 1 is whole; the gap shows that two more are missing.
  CHECK(left.lost == std::vector<std::uint64_t>{kRecords, 0});
}

TEST_CASE("a damaged file header is replaced by the file's name") {
  const Scratch folder;
  const Written file = write_frames(folder.path());
  change(file.path, 2, 0x01);
  const Read all = read(folder.path());
  CHECK(all.numbers.size() == kFrames * kRecords);
  REQUIRE(all.process.problems.size() == 1);
  CHECK(all.process.problems[0].find("byte 0: expected \"FATHOMTR\"") != std::string::npos);
}

TEST_CASE("a file of a later version is refused by name") {
  const Scratch folder;
  const Written file = write_frames(folder.path());
  change(file.path, 8, 0x07);  // 3 -> 4
  const auto trace = trace::Trace::open(folder.path());
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().message.find("version 4 is newer") != std::string::npos);
}

TEST_CASE("chunks left in memory are read after those drained, each once") {
  const Scratch folder;
  TraceFile file(folder.path(), 0);
  file.definitions(definitions_rows(0, 1));
  file.events(0, 0, 1000, numbered_records(0, kRecords), kRecords);
  file.events(0, 1, 2000, numbered_records(20, kRecords), kRecords);
  LiveFile live(0, 5);
  live.chunk(ChunkState::kFilling, 0, 3, 4000, numbered_records(60, 10))
      .chunk(ChunkState::kFree, 0, 0, 0, numbered_records(900, 20))
      .chunk(ChunkState::kFull, 0, 1, 2000, numbered_records(20, 20))  // drained already
      .chunk(ChunkState::kFull, 0, 2, 3000, numbered_records(40, 20))
      .chunk(ChunkState::kFilling, 0, 4, 5000, {});
  write_file(trace_path(folder.path(), 0, ".live"), live.bytes());
  const Read all = read(folder.path());
  REQUIRE(all.numbers.size() == 70);
  for (std::uint32_t i = 0; i < 70; ++i) CHECK(all.numbers[i] == i);
  CHECK(all.lost.empty());
  CHECK(all.process.records == 70);
  CHECK(all.process.lost_records == 5);
  CHECK(all.process.problems.empty());
}

TEST_CASE(
    "the number of lost records is read from new traces and from those of the first version") {
  for (const char* line : {"lost 12\n", "lost-records 12\n"}) {
    const Scratch folder;
    TraceFile file(folder.path(), 0);
    file.definitions(definitions_rows(0, 1, line));
    file.finish();
    CHECK(read(folder.path()).process.lost_records == 12);
  }
}

TEST_CASE("a chunk replaces its frame where that was not written whole") {
  const Scratch folder;
  TraceFile file(folder.path(), 0);
  file.definitions(definitions_rows(0, 1));
  file.events(0, 0, 1000, numbered_records(0, kRecords), kRecords);
  file.events(0, 1, 2000, numbered_records(20, kRecords), kRecords);
  change(file.path, file.offsets[1] + 70, 0x01);
  write_file(
      trace_path(folder.path(), 0, ".live"),
      LiveFile(0).chunk(ChunkState::kFull, 0, 1, 2000, numbered_records(20, kRecords)).bytes());
  const Read all = read(folder.path());
  CHECK(all.numbers.size() == 2 * kRecords);
  CHECK(all.lost.empty());
}

TEST_CASE(
    "a half-written record, a torn chunk header and a cut .live file are read as far as they go") {
  using trace::RecordKind;
  const Scratch folder;
  Words half = numbered_records(0, 3);
  half.push_back(0);       // the head is written last
  half.push_back(0x1234);  // its payload is there already
  Words longer = numbered_records(3, 3);
  longer.resize(28, 0);
  longer[27] = record_head(RecordKind::kLost, 4, 0, 0);  // would reach beyond the chunk
  for (std::size_t i = 3; i < 27; ++i)
    longer[i] = record_head(RecordKind::kProcessor, 0, static_cast<std::uint32_t>(3 + i), 1);
  LiveFile live(0);
  live.chunk(ChunkState::kFilling, 0, 0, 100, half)
      .chunk(static_cast<ChunkState>(0xdead), 0, 1, 200, numbered_records(500, 3))
      .chunk(ChunkState::kFull, 1, 0, 300, longer)
      .chunk(ChunkState::kFull, 2, 0, 300, numbered_records(600, 3));
  TraceFile file(folder.path(), 0);
  file.definitions(definitions_rows(0, 1));
  const std::string path = trace_path(folder.path(), 0, ".live");
  const std::string bytes = live.bytes();
  write_file(path, bytes.substr(0, bytes.size() - 10));
  const Read left = read(folder.path());
  REQUIRE(left.numbers.size() == 30);
  CHECK(left.numbers.back() == 29);
  REQUIRE(left.process.problems.size() == 3);
  CHECK(left.process.problems[0].find("expected the state of a chunk") != std::string::npos);
  CHECK(left.process.problems[1].find("expected a record or the end of a chunk") !=
        std::string::npos);
  CHECK(left.process.problems[2].find("ends before chunk 3 of 4") != std::string::npos);
}

TEST_CASE("a process that left only its memory takes the functions of another") {
  const Scratch folder;
  TraceFile file(folder.path(), 0);
  file.definitions(definitions_rows(0, 2));
  file.events(0, 0, 1000, numbered_records(0, 2), 2);
  const Words call = {record_head(trace::RecordKind::kEnter, 1, 3, 0), 0,
                      record_head(trace::RecordKind::kLeave, 0, 3, 5)};
  write_file(trace_path(folder.path(), 1, ".live"),
             LiveFile(1).chunk(ChunkState::kFilling, 0, 0, 2000, call).bytes());
  const auto trace = trace::Trace::open(folder.path());
  REQUIRE(trace.ok());
  REQUIRE(trace->definitions().processes.size() == 2);
  CHECK_FALSE(trace->definitions().processes[1].problems.empty());
  trace::EventCursor cursor = trace->events(1);
  trace::Event event;
  REQUIRE(cursor.next(event));
  CHECK(event.kind == EventKind::kEnter);
  CHECK(trace->definitions().functions.at(event.function).name == "MPI_Barrier");
  CHECK(event.communicator == trace::kNobody);  // what its communicators were is not known
}

TEST_CASE("records, sections and frames of a later version are skipped") {
  const Scratch folder;
  TraceFile file(folder.path(), 0);
  std::string rows = definitions_rows(0, 1);
  RowsBuilder::section(rows, static_cast<profile::Section>(99), "later", 5);
  file.definitions(rows);
  Words words = numbered_records(0, 2);
  words.push_back(record_head(static_cast<trace::RecordKind>(200), 3, 77, 4));
  words.insert(words.end(), {1, 2, 3});
  words.push_back(record_head(trace::RecordKind::kProcessor, 0, 2, 1));
  file.events(0, 0, 1000, words, 4);
  file.finish();
  const Read all = read(folder.path());
  CHECK(all.numbers == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(all.process.problems.empty());
}

TEST_CASE("steps of a transfer that share a record are read as one event each") {
  using trace::TransferStep;
  const Scratch folder;
  TraceFile file(folder.path(), 0);
  file.definitions(definitions_rows(0, 1));
  const auto steps = [](TransferStep first, std::uint32_t further) {
    return static_cast<std::uint32_t>(first) | trace::kReceiving | further;
  };
  const std::uint32_t to_end = trace::also(TransferStep::kBegin) | trace::also(TransferStep::kEnd) |
                               trace::also(TransferStep::kComplete);
  file.events(0, 0, 1000,
              {record_head(trace::RecordKind::kTransfer, 1,
                           steps(TransferStep::kActivate, trace::also(TransferStep::kPosted)), 0),
               7,
               record_head(trace::RecordKind::kTransfer, 1,
                           steps(TransferStep::kMatchedExpected, to_end), 10),
               7, record_head(trace::RecordKind::kProcessor, 0, 3, 5)},
              3);
  file.finish();
  const auto trace = trace::Trace::open(folder.path());
  REQUIRE(trace.ok());
  trace::EventCursor cursor = trace->events(0);
  trace::Event event;
  for (const auto& [step, time_ns] : {std::pair{TransferStep::kActivate, 0u},
                                      {TransferStep::kPosted, 0u},
                                      {TransferStep::kMatchedExpected, 10u},
                                      {TransferStep::kBegin, 10u},
                                      {TransferStep::kEnd, 10u},
                                      {TransferStep::kComplete, 10u}}) {
    REQUIRE(cursor.next(event));
    CHECK(event.kind == EventKind::kTransfer);
    CHECK(event.code == static_cast<std::uint32_t>(step));
    CHECK(event.time_ns == time_ns);
    CHECK(event.receiving);
    CHECK(event.request == 7);
  }
  REQUIRE(cursor.next(event));
  CHECK(event.kind == EventKind::kProcessor);
  CHECK(event.time_ns == 15);
  CHECK_FALSE(event.receiving);
  CHECK_FALSE(cursor.next(event));
}

TEST_CASE("a missing, empty or foreign trace is an error") {
  const Scratch folder;
  const auto none = trace::Trace::open(folder.path());
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().message.find("there is no trace in") == 0);
  const std::string path = trace_path(folder.path(), 0, ".trace");
  for (const std::string& bytes : {std::string(), std::string(5, 'x'), std::string(5000, 'x')}) {
    write_file(path, bytes);
    const auto trace = trace::Trace::open(folder.path());
    REQUIRE_FALSE(trace.ok());
    CHECK(trace.error().message.find(path) != std::string::npos);
  }
}
