// SPDX-License-Identifier: BSD-3-Clause
// What TraceWriter wrote is what Trace reads, event by event and definition by definition.
#include <doctest/doctest.h>

#include <algorithm>

#include "test/unit/base/scratch_folder.h"
#include "test/unit/trace/compare.h"
#include "test/unit/trace/sample.h"
#include "trace/reader.h"
#include "trace/writer.h"

using namespace fathom;
using namespace fathom::test;

namespace {

void write_sample(const std::string& folder, const trace::Definitions& definitions) {
  auto writer = trace::TraceWriter::create(folder, definitions);
  REQUIRE(writer.ok());
  for (std::size_t i = 0; i < definitions.processes.size(); ++i) {
    for (const trace::Event& event :
         events_of_every_kind(static_cast<int>(definitions.processes[i].rank))) {
      writer->append(i, event);
    }
  }
  REQUIRE(writer->finish().ok());
}

trace::Trace opened(const std::string& folder) {
  auto opened = trace::Trace::open(folder);
  REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.error().message));
  return std::move(*opened);
}

}  // namespace

TEST_CASE("every kind of event comes back as it was written") {
  const Scratch folder;
  write_sample(folder.path(), sample_definitions());
  const trace::Trace trace = opened(folder.path());
  REQUIRE(trace.definitions().processes.size() == 3);
  for (int rank = 0; rank < 3; ++rank) {
    CAPTURE(rank);
    const auto read = texts(trace.events(static_cast<std::size_t>(rank)));
    const auto written = texts(events_of_every_kind(rank));
    REQUIRE(read.size() == written.size());
    for (std::size_t i = 0; i < read.size(); ++i) CHECK(read[i] == written[i]);
  }
}

TEST_CASE("definitions come back as they were written") {
  const Scratch folder;
  const trace::Definitions written = sample_definitions();
  write_sample(folder.path(), written);
  const trace::Trace trace = opened(folder / "trace");  // the inner folder does as well
  const trace::Definitions& read = trace.definitions();
  CHECK(read.world_size == 3);
  CHECK(read.application.executable == "/usr/bin/solver");
  CHECK(read.application.arguments == std::vector<std::string>{"-n", "two words"});
  CHECK(read.application.started_unix_ns == written.application.started_unix_ns);
  CHECK(read.application.seconds == 2.5);
  CHECK(read.level == "transfers");
  CHECK(read.source == "peruse");
  CHECK(read.classes == written.classes);
  CHECK(read.class_hidden == written.class_hidden);
  CHECK(read.phases == written.phases);
  CHECK(read.epoch_unix_ns == written.epoch_unix_ns);
  REQUIRE(read.functions.size() == written.functions.size());
  for (std::size_t i = 0; i < read.functions.size(); ++i) {
    CHECK(read.functions[i].name == written.functions[i].name);
    CHECK(read.functions[i].group == written.functions[i].group);
    CHECK(read.functions[i].enter == written.functions[i].enter);
    CHECK(read.functions[i].leave == written.functions[i].leave);
  }
  REQUIRE(read.communicators.size() == written.communicators.size());
  for (std::size_t i = 0; i < read.communicators.size(); ++i) {
    CAPTURE(i);
    CHECK(read.communicators[i].id == written.communicators[i].id);
    CHECK(read.communicators[i].name == written.communicators[i].name);
    CHECK(read.communicators[i].made_by == written.communicators[i].made_by);
    CHECK(read.communicators[i].parent == written.communicators[i].parent);
    CHECK(read.communicators[i].internal == written.communicators[i].internal);
    CHECK(read.communicators[i].instances == written.communicators[i].instances);
    CHECK(read.communicators[i].world_ranks == written.communicators[i].world_ranks);
    CHECK(read.communicators[i].remote_world_ranks == written.communicators[i].remote_world_ranks);
  }
  const trace::Process& process = read.processes[2];
  CHECK(process.rank == 2);
  CHECK(process.host == "n2");
  CHECK(process.pid == 102);
  CHECK(process.affinity == "0-3");
  CHECK(process.socket == 0);
  CHECK(process.numa_node == 2);
  CHECK(process.threads == std::vector<std::string>{"main", "worker"});
  REQUIRE(process.code.size() == 1);
  CHECK(process.code[0].base == 0x400000);
  CHECK(process.code[0].path == "/usr/bin/a solver");
  CHECK(process.code[0].build_id == "abcd");
  CHECK(process.clock.kind == "monotonic");
  CHECK(process.clock.ticks_per_ns == 1);
  CHECK(process.clock.uncertainty_ns == 40);
  CHECK(process.complete);
  CHECK(process.problems.empty());
  CHECK(process.first_ns == 102);
  CHECK(process.last_ns == 6'000'000'010);
  CHECK(trace.damaged_frames(2).empty());
}

TEST_CASE("communicators keep their numbers when processes are left out") {
  const Scratch folder;
  trace::Definitions definitions = sample_definitions();
  definitions.processes.erase(
      definitions.processes.begin());  // rank 0, which is in most communicators
  write_sample(folder.path(), definitions);
  const trace::Trace trace = opened(folder.path());
  const auto& communicators = trace.definitions().communicators;
  REQUIRE(communicators.size() == 5);
  CHECK(communicators[2].name == "pair");
  CHECK(communicators[2].world_ranks == std::vector<std::int64_t>{2, 0});
  CHECK(communicators[4].remote_world_ranks == std::vector<std::int64_t>{4, 3});
  CHECK(texts(trace.events(0)) == texts(events_of_every_kind(1)));
  CHECK(texts(trace.events(1)) == texts(events_of_every_kind(2)));
}

TEST_CASE("seek gives the first event at or after a time") {
  const Scratch folder;
  trace::Definitions definitions = sample_definitions();
  definitions.processes.resize(1);
  constexpr int kEvents = 200'000;
  {
    auto writer = trace::TraceWriter::create(folder.path(), definitions);
    REQUIRE(writer.ok());
    for (std::uint64_t i = 0; i < kEvents; ++i) {  // two threads, many frames
      trace::Event event =
          sample_event(trace::EventKind::kProcessor, 10 * i, static_cast<std::uint32_t>(i % 2));
      writer->append(0, event);
    }
    REQUIRE(writer->finish().ok());
  }
  const trace::Trace trace = opened(folder.path());
  trace::EventCursor cursor = trace.events(0);
  trace::Event event;
  for (const std::uint64_t time_ns : {0ul, 5ul, 10ul, 999'995ul, 1'999'990ul, 1'234'560ul, 7ul}) {
    cursor.seek(time_ns);
    REQUIRE(cursor.next(event));
    CHECK(event.time_ns == (time_ns + 9) / 10 * 10);
    if (event.time_ns + 10 < 10ul * kEvents) {
      const std::uint64_t before_ns = event.time_ns;
      REQUIRE(cursor.next(event));
      CHECK(event.time_ns == before_ns + 10);
    }
  }
  cursor.seek(2'000'000);
  CHECK_FALSE(cursor.next(event));
}

TEST_CASE("seek leaves out all that records before a time tell, and nothing else") {
  const Scratch folder;
  const trace::Definitions definitions = sample_definitions();
  write_sample(folder.path(), definitions);
  const trace::Trace trace = opened(folder.path());
  std::vector<trace::Event> all;
  trace::EventCursor every = trace.events(1);
  for (trace::Event event; every.next(event);) all.push_back(event);
  CHECK(all.size() > 20);
  for (const trace::Event& first : all) {
    for (const std::uint64_t time_ns : {first.time_ns, first.time_ns + 1}) {
      const auto begin = std::find_if(all.begin(), all.end(), [&](const trace::Event& event) {
        return event.time_ns >= time_ns;
      });
      trace::EventCursor cursor = trace.events(1);
      cursor.seek(time_ns);
      CHECK(texts(std::move(cursor)) == texts(std::vector<trace::Event>(begin, all.end())));
    }
  }
}

TEST_CASE("a writer refuses what a trace cannot hold, and another trace's folder") {
  const Scratch folder;
  trace::Definitions definitions = sample_definitions();
  write_sample(folder.path(), definitions);
  const auto again = trace::TraceWriter::create(folder.path(), definitions);
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().message.find("holds a trace already") != std::string::npos);
  definitions.processes[1].rank = 0;
  const auto twice = trace::TraceWriter::create(folder / "other", definitions);
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.error().message.find("rank 0 is listed twice") != std::string::npos);
}
