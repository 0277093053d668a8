// SPDX-License-Identifier: BSD-3-Clause
// Every export format of traces: small golden files, and OTF2 written and read again.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "exporters/trace/protobuf.h"
#include "exporters/trace/sorted_lines.h"
#include "exporters/trace/trace_exporter.h"
#include "importers/mpic.h"
#include "importers/otf2.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/trace/compare.h"
#include "test/unit/trace/job.h"
#include "test/unit/trace/own_code.h"
#include "test/unit/trace/sample.h"

namespace fathom::test {
namespace {

exporters::Notes export_job(const Scratch& scratch, const char* format, const std::string& path,
                            exporters::TraceOptions options = {}) {
  if (!std::filesystem::exists(scratch / "trace")) write_job(scratch.path());
  const auto trace = trace::Trace::open(scratch.path());
  REQUIRE(trace.ok());
  exporters::Notes notes;
  const auto done = exporters::find_trace(format)->write(*trace, options, path, notes);
  REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
  return notes;
}

// What a query gives, as sqlite3's own tool prints it.
std::string rows_of(const std::string& path, const char* query) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  std::string text;
  const auto row = [](void* rows, int columns, char** values, char**) {
    auto& all = *static_cast<std::string*>(rows);
    for (int column = 0; column < columns; ++column)
      all.append(column ? "|" : "").append(values[column] ? values[column] : "");
    all += '\n';
    return 0;
  };
  CHECK(sqlite3_exec(database, query, row, &text, nullptr) == SQLITE_OK);
  sqlite3_close(database);
  return text;
}

void check_golden(const std::string& name, const std::string& path) {
  const std::string golden = std::string(std::getenv("FATHOM_GOLDEN")) + "/" + name;
  if (std::getenv("FATHOM_GOLDEN_UPDATE")) write_file(golden, contents(path));
  CHECK(contents(path) == contents(golden));
}

// The SMPI lines of rank 0 of two, which does `events` with MPI_Alltoall (5) and MPI_Sendrecv (6).
std::string smpi_lines(const std::vector<trace::Event>& events) {
  using trace::Attribute;
  trace::Definitions all = job_definitions();
  all.functions.push_back({"MPI_Alltoall", trace::Group::kCollective, {}, {}});
  all.functions.push_back(
      {"MPI_Sendrecv",
       trace::Group::kSendReceive,
       {Attribute::kCommunicator, Attribute::kPeer, Attribute::kTag, Attribute::kPeer2},
       {}});
  all.classes.push_back("MPI_Alltoall");
  all.class_hidden.push_back(true);
  Scratch scratch;
  auto writer = trace::TraceWriter::create(scratch.path(), all);
  REQUIRE(writer.ok());
  for (const trace::Event& event : events) writer->append(0, event);
  REQUIRE(writer->finish().ok());
  export_job(scratch, "smpi", scratch / "t.smpi");
  return contents(scratch / "t.smpi/0.txt");
}

void step_of_receive(JobEvents& job, std::uint64_t time_ns, trace::TransferStep step) {
  trace::Event& event = job.add(trace::EventKind::kTransfer, time_ns);
  event.code = static_cast<std::uint32_t>(step);
  event.receiving = true;
  JobEvents::about(event, 1, -10, 64);
}

TEST_CASE("in SMPI, a late rank waits for what it found after it has sent") {
  using trace::TransferStep;
  for (const bool is_late : {true, false}) {
    JobEvents job;
    job.enter(100, static_cast<JobFunction>(5));
    step_of_receive(job, 110, TransferStep::kActivate);
    step_of_receive(job, 120,
                    is_late ? TransferStep::kMatchedUnexpected : TransferStep::kMatchedExpected);
    job.message(130, false, 1, -10, 64, 2, 0);
    job.message(140, true, 1, -10, 64, 2, 0);
    job.leave(150, static_cast<JobFunction>(5));
    const std::string wait = "0 wait 1 0 1073741824\n", send = "0 isend 1 1073741824 64\n";
    CHECK(smpi_lines(job.events) == "0 init\n0 irecv 1 1073741824 64\n" +
                                        (is_late ? send + wait : wait + send) +
                                        "0 wait 0 1 1073741824\n0 finalize\n");
  }
}

TEST_CASE("in SMPI, the receive of a sendrecv does not hold up its send") {
  JobEvents job;
  trace::Event& enter = job.enter(100, static_cast<JobFunction>(6));
  JobEvents::about(enter, 1, 3, 8);
  enter.peer2 = 1;
  job.message(110, false, 1, 3, 8, 0, 0);  // it was there
  job.message(120, true, 1, 3, 8, 0, 0);
  job.leave(150, static_cast<JobFunction>(6));
  CHECK(smpi_lines(job.events) ==
        "0 init\n0 irecv 1 3 8\n0 isend 1 3 8\n0 wait 1 0 3\n0 wait 0 1 3\n0 finalize\n");
}

TEST_CASE("text formats equal their golden files") {
  Scratch scratch;
  export_job(scratch, "pyrite", scratch / "t.pyrite.json");
  check_golden("trace.pyrite.json", scratch / "t.pyrite.json");
  export_job(scratch, "chrome", scratch / "t.json");
  check_golden("trace.json", scratch / "t.json");
  export_job(scratch, "events", scratch / "t.csv");
  check_golden("trace.csv", scratch / "t.csv");
  export_job(scratch, "goal", scratch / "t.goal");
  check_golden("trace.goal", scratch / "t.goal");
  export_job(scratch, "paraver", scratch / "t.prv");
  check_golden("trace.prv", scratch / "t.prv");
  check_golden("trace.pcf", scratch / "t.pcf");
  check_golden("trace.row", scratch / "t.row");
  export_job(scratch, "smpi", scratch / "t.smpi");
  check_golden("trace.smpi.0.txt", scratch / "t.smpi/0.txt");
  check_golden("trace.smpi.1.txt", scratch / "t.smpi/1.txt");
  export_job(scratch, "speedscope", scratch / "t.speedscope.json");
  check_golden("trace.speedscope.json", scratch / "t.speedscope.json");
  export_job(scratch, "perfetto", scratch / "t.perfetto-trace");
  check_golden("trace.perfetto-trace", scratch / "t.perfetto-trace");
}

TEST_CASE("speedscope shows threads, phases and call sites as nested stacks") {
  Scratch scratch;
  trace::Definitions all = job_definitions();
  all.phases = {"solve"};
  all.processes[1].threads = {"main", "helper"};
  auto writer = trace::TraceWriter::create(scratch / "run", all);
  REQUIRE(writer.ok());
  JobEvents job;
  job.add(trace::EventKind::kPhaseBegin, 10);
  job.enter(20, kJobSend).site = 0x1234;
  job.enter(25, kJobBcast).thread = 1;
  job.leave(30, kJobSend);
  job.add(trace::EventKind::kPhaseEnd, 40);
  job.leave(50, kJobBcast).thread = 1;
  for (const trace::Event& event : job.events) writer->append(1, event);
  REQUIRE(writer->finish().ok());
  const auto trace = trace::Trace::open(scratch / "run");
  exporters::Notes notes;
  REQUIRE(exporters::find_trace("speedscope")->write(*trace, {}, scratch / "s.json", notes).ok());
  const std::string text = contents(scratch / "s.json");
  const auto profile = [&](const std::string& name) {
    const auto begin = text.find("\"name\":\"" + name);
    REQUIRE(begin != std::string::npos);
    const auto events = text.find("[", begin);
    return text.substr(events, text.find("]", events) - events + 1);
  };
  CHECK(profile("rank 1 on n2, main") ==
        "[\n{\"type\":\"O\",\"frame\":0,\"at\":0},\n{\"type\":\"O\",\"frame\":1,\"at\":10},\n"
        "{\"type\":\"O\",\"frame\":2,\"at\":10},\n{\"type\":\"C\",\"frame\":2,\"at\":20},\n"
        "{\"type\":\"C\",\"frame\":1,\"at\":20},\n{\"type\":\"C\",\"frame\":0,\"at\":30}]");
  CHECK(profile("rank 1 on n2, helper") ==
        "[\n{\"type\":\"O\",\"frame\":3,\"at\":15},\n{\"type\":\"C\",\"frame\":3,\"at\":40}]");
  CHECK(text.find("[\n{\"name\":\"phase solve\"},\n{\"name\":\"0x1234\"},\n"
                  "{\"name\":\"MPI_Send\"},\n{\"name\":\"MPI_Bcast\"}]") != std::string::npos);
}

[[gnu::noinline]] OwnPlace place_of_call() {
  const int line = __LINE__ + 1;
  const std::uint64_t address = return_address();
  asm volatile("" ::: "memory");
  return {address, line};
}

TEST_CASE("exports say which function, file and line make a call, or which place in a module") {
  Scratch scratch;
  const OwnPlace place = place_of_call();
  trace::Definitions all = job_definitions();
  all.processes[1].code = {segment_of(place.address, "/proc/self/exe"),
                           {0x1000, 0x1000, 0, "", "/gone/app"}};
  auto writer = trace::TraceWriter::create(scratch / "run", all);
  REQUIRE(writer.ok());
  JobEvents job;
  job.enter(10, kJobSend).site = place.address;
  job.leave(15, kJobSend);
  job.enter(20, kJobBcast).site = 0x1235;
  job.leave(25, kJobBcast);
  job.enter(30, kJobWait);  // from an unknown place
  job.leave(35, kJobWait);
  for (const trace::Event& event : job.events) writer->append(1, event);
  REQUIRE(writer->finish().ok());
  const auto trace = trace::Trace::open(scratch / "run");
  const auto exported = [&](const char* format) {
    exporters::Notes notes;
    REQUIRE(exporters::find_trace(format)->write(*trace, {}, scratch / format, notes).ok());
    return scratch / format;
  };
  const std::string caller = "fathom::test::(anonymous namespace)::place_of_call()",
                    line = std::to_string(place.line);
  CHECK(
      rows_of(exported("sqlite"),
              "SELECT name, caller, replace(file, rtrim(file, replace(file, '/', '')), ''), line, "
              "module, place FROM calls WHERE name != 'MPI_Send' ORDER BY begin_ns") ==
      "MPI_Bcast||||/gone/app|564\nMPI_Wait|||||\n");
  const std::string file = rows_of(scratch / "sqlite", "SELECT file FROM calls WHERE line > 0");
  const std::string path = file.substr(0, file.size() - 1);
  CHECK(path.ends_with("/trace_export_test.cpp"));
  CHECK(rows_of(scratch / "sqlite", "SELECT caller, line FROM calls WHERE line > 0") ==
        caller + "|" + line + "\n");

  const std::string events = contents(exported("events"));
  CHECK(events.find("," + caller + "," + path + "," + line + ",/proc/self/exe,") !=
        std::string::npos);
  CHECK(events.find(",4661,,,0,/gone/app,564\n") == std::string::npos);  // no line, not line 0
  CHECK(events.find(",4661,,,,/gone/app,564\n") != std::string::npos);

  const std::string chrome = contents(exported("chrome"));
  CHECK(chrome.find("\"caller\":\"" + caller + "\",\"file\":\"" + path + "\",\"line\":" + line +
                    "}}") != std::string::npos);
  CHECK(chrome.find("\"file\":\"app+0x234\"}}") != std::string::npos);

  const std::string perfetto = contents(exported("perfetto"));
  exporters::Protobuf known, gone;
  known.varint(1, 1);
  known.text(2, path);
  known.text(3, caller);
  known.varint(4, static_cast<std::uint64_t>(place.line));
  gone.varint(1, 2);
  gone.text(2, "app+0x234");
  CHECK(perfetto.find(known.bytes()) != std::string::npos);
  CHECK(perfetto.find(gone.bytes()) != std::string::npos);

  const std::string otf2 = contents(exported("otf2") + "/traces.def");
  for (const std::string& text : {path, caller, std::string("app+0x234")})
    CHECK(otf2.find(text) != std::string::npos);
}

TEST_CASE("SQLite has each rank's call sites once, and calls refer to them") {
  Scratch scratch;
  trace::Definitions all = job_definitions();
  all.processes[1].code = {{0x400000, 0x10000, 0, "", "/gone/app"}};
  auto writer = trace::TraceWriter::create(scratch / "run", all);
  REQUIRE(writer.ok());
  JobEvents job;
  for (const std::uint64_t at : {10, 20, 30}) {
    job.enter(at, kJobSend).site = at == 30 ? 0x7000000 : 0x401234;
    job.leave(at + 5, kJobSend);
  }
  job.enter(40, kJobBcast);  // no site is known
  job.leave(45, kJobBcast);
  for (const trace::Event& event : job.events) writer->append(1, event);
  REQUIRE(writer->finish().ok());
  export_job(scratch, "sqlite", scratch / "t.sqlite");  // of another job: no sites
  const auto trace = trace::Trace::open(scratch / "run");
  exporters::Notes notes;
  REQUIRE(exporters::find_trace("sqlite")->write(*trace, {}, scratch / "s.sqlite", notes).ok());
  CHECK(rows_of(scratch / "t.sqlite", "SELECT count(*) FROM site") == "0\n");
  CHECK(rows_of(scratch / "s.sqlite",
                "SELECT rank, address, function, file, line, module, place FROM site") ==
        "1|4198964||||/gone/app|4659\n1|117440512|||||117440512\n");
  CHECK(
      rows_of(scratch / "s.sqlite",
              "SELECT calls.name, calls.site, site.module FROM calls LEFT JOIN site ON "
              "site.rank = calls.rank AND site.address = calls.site ORDER BY begin_ns") ==
      "MPI_Send|4198964|/gone/app\nMPI_Send|4198964|/gone/app\nMPI_Send|117440512|\nMPI_Bcast||\n");
}

TEST_CASE("existing output is kept unless it may be replaced") {
  Scratch scratch;
  for (const exporters::TraceExporter& row : exporters::all_trace()) {
    CAPTURE(row.name);
    const std::string path = scratch / (std::string("out-") + row.name);
    export_job(scratch, row.name, path);
    const auto trace = trace::Trace::open(scratch.path());
    exporters::Notes notes;
    CHECK(!row.write(*trace, {}, path, notes).ok());
    exporters::TraceOptions force;
    force.force = true;
    CHECK(row.write(*trace, force, path, notes).ok());
  }
}

TEST_CASE("a selection of messages leaves the library's own out") {
  Scratch scratch;
  exporters::TraceOptions user;
  user.hidden = false;
  export_job(scratch, "events", scratch / "user.csv", user);
  CHECK(contents(scratch / "user.csv").find("MPI_Bcast,0,0,1,-10") == std::string::npos);
  CHECK(contents(scratch / "user.csv").find("point-to-point") != std::string::npos);
}

TEST_CASE("OTF2 preserves calls, messages and times") {
  Scratch scratch;
  write_job(scratch.path());
  export_job(scratch, "otf2", scratch / "archive");
  exporters::Notes notes;
  const auto done = importers::import_otf2(scratch / "archive", scratch / "back", notes);
  REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
  CHECK(notes.empty());
  const auto before = trace::Trace::open(scratch.path()),
             after = trace::Trace::open(scratch / "back");
  REQUIRE(after.ok());
  REQUIRE(after->definitions().processes.size() == 2);
  for (std::size_t process = 0; process < 2; ++process) {
    auto expected = texts(*before, process), got = texts(*after, process);
    // A call that was cut off gets a leave in OTF2, whose calls nest.
    if (process == 1) {
      REQUIRE(got.size() == expected.size() + 1);
      got.pop_back();
    }
    CHECK(got == expected);
  }
  CHECK(after->definitions().communicators.size() == 1);
  CHECK(after->definitions().communicators[0].name == "MPI_COMM_WORLD");
  CHECK(after->definitions().epoch_unix_ns == 1'700'000'000'000'000'000);
  CHECK(after->definitions().processes[1].host == "n2");
  CHECK(after->definitions().processes[1].pid == 101);
}

TEST_CASE("OTF2 preserves every kind of event, several threads and intercommunicators") {
  Scratch scratch;
  auto writer = trace::TraceWriter::create(scratch / "run", sample_definitions());
  REQUIRE(writer.ok());
  for (int rank = 0; rank < 3; ++rank) {
    for (const trace::Event& event : events_of_every_kind(rank))
      writer->append(static_cast<std::size_t>(rank), event);
  }
  REQUIRE(writer->finish().ok());
  const auto before = trace::Trace::open(scratch / "run");
  REQUIRE(before.ok());
  exporters::Notes notes;
  REQUIRE(exporters::find_trace("otf2")->write(*before, {}, scratch / "archive", notes).ok());
  const auto imported = importers::import_otf2(scratch / "archive", scratch / "back", notes);
  REQUIRE_MESSAGE(imported.ok(), (imported.ok() ? "" : imported.error().message));
  const auto after = trace::Trace::open(scratch / "back");
  REQUIRE(after.ok());
  for (std::size_t process = 0; process < 3; ++process) {
    // Keeps calls that have an enter and a leave; the sample also holds halves of calls, which OTF2
    // cannot.
    const auto keep = [](const std::vector<std::string>& all) {
      std::vector<std::string> kept;
      for (const std::string& line : all) {
        const bool half = line.find("kind 1 ") != std::string::npos;
        if (!half) kept.push_back(line);
      }
      return kept;
    };
    CHECK(keep(texts(*after, process)) == keep(texts(*before, process)));
  }
}

TEST_CASE("an OTF2 archive defines the functions that occur, and parents before their children") {
  Scratch scratch;
  trace::Definitions all = job_definitions();
  for (const char* name : {"grandchild", "child"}) {
    profile::Communicator made;
    made.id = static_cast<std::int64_t>(all.communicators.size());
    made.name = name;
    made.made_by = "MPI_Comm_split";
    made.world_ranks = {0, 1};
    all.communicators.push_back(made);
  }
  all.communicators[1].parent = 2;  // the grandchild has the lower number
  all.communicators[2].parent = 0;
  auto writer = trace::TraceWriter::create(scratch / "run", all);
  REQUIRE(writer.ok());
  JobEvents job;
  job.enter(10, kJobBcast).communicator = 1;
  job.leave(20, kJobBcast);
  trace::Event& sampled = job.add(trace::EventKind::kSampled, 30);
  sampled.function = kJobWait;
  sampled.count = 3;
  for (const trace::Event& event : job.events) writer->append(0, event);
  REQUIRE(writer->finish().ok());
  const auto before = trace::Trace::open(scratch / "run");
  exporters::Notes notes;
  REQUIRE(exporters::find_trace("otf2")->write(*before, {}, scratch / "archive", notes).ok());
  REQUIRE(importers::import_otf2(scratch / "archive", scratch / "back", notes).ok());
  const auto after = trace::Trace::open(scratch / "back");
  const auto& functions = after->definitions().functions;
  REQUIRE(functions.size() == 2);
  CHECK(functions[0].name == "MPI_Bcast");
  CHECK(functions[1].name == "MPI_Wait");
  CHECK(texts(*after, 0) == texts(*before, 0));
  REQUIRE(before->definitions().communicators[1].parent == 2);
  const auto& communicators = after->definitions().communicators;
  REQUIRE(communicators.size() == 3);
  CHECK(communicators[1].name == "grandchild");
  CHECK(communicators[1].parent == 2);
  CHECK(communicators[2].parent == 0);
}

TEST_CASE("OTF2 preserves receives that no call completed") {
  Scratch scratch;
  auto writer = trace::TraceWriter::create(scratch / "run", uncompleted_definitions());
  REQUIRE(writer.ok());
  for (const trace::Event& event : uncompleted_events()) writer->append(1, event);
  REQUIRE(writer->finish().ok());
  const auto before = trace::Trace::open(scratch / "run");
  exporters::Notes notes;
  REQUIRE(exporters::find_trace("otf2")->write(*before, {}, scratch / "archive", notes).ok());
  REQUIRE(importers::import_otf2(scratch / "archive", scratch / "back", notes).ok());
  const auto after = trace::Trace::open(scratch / "back");
  REQUIRE(after->definitions().processes.size() == 1);
  CHECK(texts(*after, 0) == texts(*before, 1));
}

TEST_CASE("lines added in any order come out in order of time, from memory or from pieces") {
  for (const std::size_t most_bytes : {std::size_t{200}, std::size_t{1} << 20}) {
    Scratch scratch;
    exporters::SortedLines lines(most_bytes);
    std::mt19937 random(1);
    std::vector<std::uint64_t> times(1000);
    for (auto& time : times) time = random() % 10'000;
    for (const auto time : times) lines.add(time, std::to_string(time) + "\n");
    exporters::TextFile file;
    REQUIRE(file.open(scratch / "lines", false).ok());
    REQUIRE(lines.write(file).ok());
    REQUIRE(file.commit().ok());
    std::sort(times.begin(), times.end());
    std::string expected;
    for (const auto time : times) expected += std::to_string(time) + "\n";
    CHECK(contents(scratch / "lines") == expected);
  }
}

TEST_CASE("protobuf encodings equal the examples of the specification") {
  exporters::Protobuf message;
  message.varint(1, 150);
  CHECK(message.bytes() == std::string("\x08\x96\x01"));
  exporters::Protobuf outer;
  outer.text(2, "testing");
  CHECK(outer.bytes() == std::string("\x12\x07testing"));
  exporters::Protobuf nested;
  nested.message(3, message);
  CHECK(nested.bytes() == std::string("\x1a\x03\x08\x96\x01"));
  exporters::Protobuf repaired;
  repaired.text(1, "a\xff");
  CHECK(repaired.bytes() == std::string("\x0a\x04"
                                        "a\xEF\xBF\xBD"));
}

// ---- .mpic ----

class MpicBytes {
 public:
  template <typename Number>
  void number(Number value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(const std::string& value, std::size_t size) {
    bytes += value;
    bytes.append(size - value.size(), '\0');
  }
  void ints(std::initializer_list<std::int32_t> values) {
    for (const std::int32_t value : values) number(value);
  }
  void head(int version, int ranks) {
    if (version == 2) {
      bytes += "MPICv002";
      number(std::uint32_t{2});
    }
    ints({ranks});
    text("2025-01-02 03:04:05", 64);
    text("solver", 1024);
    for (int rank = 0; rank < ranks; ++rank) {
      ints({rank, 1000 + rank, 0, rank});
      text("node" + std::to_string(rank), 1024);
    }
    for (int rank = 0; version == 2 && rank < ranks; ++rank) {
      ints({rank, 0});
      number(12.5);
      number(std::int64_t{1'700'000'000'000'000'000} + rank * 1000);
    }
  }
  void section(int rank) {
    const int peer = 1 - rank;
    ints({rank});
    text("P2P Small Type Messages", 24);
    ints({2});
    number(0.25);
    ints({1, rank == 0 ? 13 : 14, 0, 9, 0, 1, 4, 32});  // Send, Recv
    number(0.5);
    ints({3, 26, 0, 0, rank, rank, 0, 0});  // Barrier
    text("P2P Large Type Messages", 24);
    ints({1});
    number(0.375);
    ints({2, 23, 0, rank, peer, 1, 8, 3, peer, rank, 1, 8, 3, 0});  // Sendrecv
  }

  std::string bytes;
};

std::string mpic(int version) {
  MpicBytes file;
  file.head(version, 2);
  file.section(0);
  file.section(1);
  return file.bytes;
}

TEST_CASE(".mpic files of both versions are read") {
  for (const int version : {1, 2}) {
    CAPTURE(version);
    Scratch scratch;
    write_file(scratch / "t.mpic", mpic(version));
    exporters::Notes notes;
    const auto done = importers::import_mpic(scratch / "t.mpic", scratch / "run", notes);
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
    const auto trace = trace::Trace::open(scratch / "run");
    REQUIRE(trace.ok());
    CHECK(trace->definitions().processes[1].host == "node1");
    CHECK(trace->definitions().application.executable == "solver");
    std::vector<trace::Event> events;
    trace::EventCursor cursor = trace->events(1);
    for (trace::Event event; cursor.next(event);) events.push_back(event);
    REQUIRE(events.size() == 9);
    CHECK(trace->definitions().functions[events[0].function].name == "MPI_Recv");
    CHECK(events[1].kind == trace::EventKind::kMessageReceived);
    CHECK(events[1].peer == 0);
    CHECK(events[1].tag == 9);
    CHECK(events[1].bytes == 32);
    CHECK(events[1].time_ns == 250'000'000 + (version == 2 ? 1000 : 0));
    CHECK(trace->definitions().functions[events[3].function].name == "MPI_Sendrecv");
    CHECK(trace->definitions().functions[events[7].function].name == "MPI_Barrier");

    struct Count : trace::Visitor {
      int transfers = 0;
      void transfer(const trace::Transfer&) override { ++transfers; }
    } count;
    const trace::WalkSummary summary = trace::walk_job(*trace, count);
    CHECK(count.transfers == 3);
    CHECK(summary.unmatched_sends + summary.unmatched_receives == 0);
  }
}

TEST_CASE("clocks of an .mpic file agree only if its ranks began on one host at known moments") {
  for (const int version : {1, 2}) {
    for (const bool one_host : {false, true}) {
      CAPTURE(version);
      CAPTURE(one_host);
      Scratch scratch;
      std::string bytes = mpic(version);
      if (one_host) bytes.replace(bytes.find("node1"), 5, "node0");
      write_file(scratch / "t.mpic", bytes);
      exporters::Notes notes;
      REQUIRE(importers::import_mpic(scratch / "t.mpic", scratch / "run", notes).ok());
      const auto trace = trace::Trace::open(scratch / "run");
      REQUIRE(trace.ok());
      const bool agree = version == 2 && one_host;
      for (const trace::Process& process : trace->definitions().processes) {
        CHECK(process.clock.own == !agree);
        CHECK(process.clock.bounded == agree);
      }
      CHECK((notes.front().find("clocks were not synchronised") != std::string::npos) == !agree);
    }
  }
}

TEST_CASE("damaged .mpic files do no harm, and ranks before the damage are kept") {
  const std::string sound = mpic(2);
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Scratch scratch;
    std::string bytes = sound;
    if (round % 2 == 0) bytes.resize(random() % bytes.size());
    for (int flips = round % 5; flips > 0 && !bytes.empty(); --flips) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1u << random() % 8);
    }
    write_file(scratch / "t.mpic", bytes);
    exporters::Notes notes;
    const auto done = importers::import_mpic(scratch / "t.mpic", scratch / "run", notes);
    if (!done) CHECK(!done.error().message.empty());
  }
  Scratch scratch;
  write_file(scratch / "t.mpic", sound.substr(0, sound.size() - 10));
  exporters::Notes notes;
  REQUIRE(importers::import_mpic(scratch / "t.mpic", scratch / "run", notes).ok());
  CHECK(notes.size() == 3);
  CHECK(trace::Trace::open(scratch / "run")->definitions().processes.size() == 1);
}

TEST_CASE("damaged OTF2 archives, and what is not an archive, give errors or notes") {
  Scratch scratch;
  write_job(scratch.path());
  export_job(scratch, "otf2", scratch / "archive");
  exporters::Notes notes;
  write_file(scratch / "no.otf2", "nothing of the kind");
  CHECK(!importers::import_otf2(scratch / "no.otf2", scratch / "no", notes).ok());
  const std::string definitions = contents(scratch / "archive/traces.def");
  write_file(scratch / "archive/traces.def", definitions.substr(0, definitions.size() / 2));
  (void)importers::import_otf2(scratch / "archive", scratch / "cut", notes);
  write_file(scratch / "archive/traces.def", definitions);
  std::filesystem::remove(scratch / "archive/traces/1.evt");
  const auto without = importers::import_otf2(scratch / "archive", scratch / "without", notes);
  CHECK(without.ok());
  CHECK(!notes.empty());
}

}  // namespace
}  // namespace fathom::test
