// SPDX-License-Identifier: BSD-3-Clause
// Old traces stay readable for ever: test/golden/trace-1 (every kind of event) and trace-example,
// the file that docs/trace-format.md explains byte by byte. They are never rewritten; a new version
// gets new files.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "test/unit/base/scratch_folder.h"
#include "test/unit/trace/compare.h"
#include "test/unit/trace/sample.h"
#include "trace/reader.h"

using namespace fathom;
using namespace fathom::test;

namespace {

std::string golden(const std::string& name) {
  const char* folder = std::getenv("FATHOM_GOLDEN");
  return std::string(folder == nullptr ? "test/golden" : folder) + "/" + name;
}

// The bytes of all lines "| offset | hexadecimal bytes | meaning |" of a document.
std::string documented_bytes(const std::string& document) {
  std::string bytes;
  std::istringstream lines(document);
  for (std::string line; std::getline(lines, line);) {
    const auto second = line.find('|', 1), third = line.find('|', second + 1);
    if (line.rfind("| ", 0) != 0 || third == std::string::npos) continue;
    std::istringstream offset_text(line.substr(1, second - 1)),
        values(line.substr(second + 1, third - second - 1));
    std::size_t offset = 0;
    if (!(offset_text >> offset)) continue;
    CAPTURE(line);
    CHECK(offset == bytes.size());
    for (std::string value; values >> value;)
      bytes += static_cast<char>(std::stoul(value, nullptr, 16));
  }
  return bytes;
}

}  // namespace

TEST_CASE("a trace of the first version is read as it was written") {
  const auto trace = trace::Trace::open(golden("trace-1"));
  REQUIRE_MESSAGE(trace.ok(), (trace.ok() ? "" : trace.error().message));
  REQUIRE(trace->definitions().processes.size() == 3);
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(texts(trace->events(static_cast<std::size_t>(rank))) == texts(sample_events(rank)));
    CHECK(trace->definitions().processes[static_cast<std::size_t>(rank)].problems.empty());
  }
  CHECK(trace->definitions().communicators.at(4).remote_world_ranks ==
        std::vector<std::int64_t>{4, 3});
}

TEST_CASE("the worked example of docs/trace-format.md is true") {
  const std::string file = contents(golden("trace-example/trace/77.0.trace"));
  CHECK(documented_bytes(contents(golden("../../docs/trace-format.md"))) == file);
  const auto trace = trace::Trace::open(golden("trace-example"));
  REQUIRE(trace.ok());
  CHECK(trace->definitions().epoch_unix_ns == 1'700'000'000'000'001'000);
  trace::EventCursor cursor = trace->events(0);
  trace::Event event;
  REQUIRE(cursor.next(event));
  CHECK(event.kind == trace::EventKind::kEnter);
  CHECK(trace->definitions().functions.at(event.function).name == "MPI_Send");
  CHECK(event.tag == 7);
  CHECK(event.bytes == 64);
  CHECK(event.time_ns == 0);
  REQUIRE(cursor.next(event));
  CHECK(event.kind == trace::EventKind::kLeave);
  CHECK(event.time_ns == 90);
  CHECK_FALSE(cursor.next(event));
}
