// SPDX-License-Identifier: BSD-3-Clause
// Every analysis on damaged, contradictory or nearly empty traces uses the intact part and reports
// what is missing.
#include <doctest/doctest.h>

#include <filesystem>
#include <functional>

#include "analysis/load_run.h"
#include "analysis/run.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/engine/made_job.h"
#include "test/unit/trace/files.h"

namespace fathom::analysis {
namespace {

using test::MadeJob;
using test::Scratch;

// A halo on a ring and a reduction, many times; rank 2 is slow each time, by 40 ns.
MadeJob ring(int ranks = 4, std::uint64_t iterations = 3000) {
  MadeJob made(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    const auto late = static_cast<std::uint64_t>(rank == 2 ? 40 : 0);
    made.enter(rank, 0, "MPI_Init");
    made.leave(rank, 10, "MPI_Init");
    for (std::uint64_t i = 0; i < iterations; ++i) {
      const std::uint64_t at = 100 + i * 200;
      made.irecv(rank, at, 7, from);
      made.send(rank, at + 10 + late, at + 15 + late, to);
      made.wait_receive(rank, at + 60, at + 72, 7, from);
      made.collective(rank, at + 80 + late, at + 140, "MPI_Allreduce");
      made.collective(rank, at + 150 + late, at + 195, "MPI_Barrier");
    }
    made.enter(rank, 200 + iterations * 200, "MPI_Finalize");
    made.leave(rank, 210 + iterations * 200, "MPI_Finalize");
  }
  return made;
}

std::string file_of(const std::string& run, int rank) {
  for (const auto& entry : std::filesystem::directory_iterator(run + "/trace")) {
    if (entry.path().extension() == ".trace" &&
        entry.path().stem().string().ends_with("." + std::to_string(rank)))
      return entry.path();
  }
  FAIL("no trace of rank " << rank);
  return "";
}

// Runs every analysis and returns the findings with their limits.
Results analysed(const std::string& run_directory,
                 const std::function<void(Thresholds&)>& set = {}) {
  const auto run = load_run("", run_directory, {});
  REQUIRE_MESSAGE(run.ok(), (run.ok() ? "" : run.error().message));
  Thresholds thresholds;
  if (set) set(thresholds);
  std::vector<const Row*> rows;
  for (const Row& row : all_analyses()) rows.push_back(&row);
  auto results = run_analyses(rows, run->input(thresholds));
  REQUIRE_MESSAGE(results.ok(), (results.ok() ? "" : results.error().message));
  CHECK(results->sections.size() == all_analyses().size());
  return std::move(*results);
}

Results analysed_after(MadeJob& made, const std::function<void(const std::string&)>& damage) {
  const Scratch scratch;
  made.written(scratch / "run");
  damage(scratch / "run");
  return analysed(scratch / "run");
}

bool says(const Results& results, const std::string& words) {
  for (const std::string& limit : results.limits) {
    if (limit.find(words) != std::string::npos) return true;
  }
  for (const std::string& limit : results.limits) MESSAGE(limit);
  return false;
}

double wait_seconds(const Results& results) {
  for (const NamedSection& section : results.sections) {
    if (section.name != "wait-states") continue;
    for (const Figure& figure : section.section.figures) {
      if (figure.name == "wait_seconds") return std::get<double>(figure.value);
    }
  }
  return -1;
}

TEST_CASE("an undamaged run reports no problem") {
  MadeJob made = ring();
  const Results results = analysed_after(made, [](const std::string&) {});
  for (const std::string& limit : results.limits) {
    for (const char* word :
         {"left out", "lost", "not in", "ends before", "damage", "before they were sent"})
      CHECK_MESSAGE(limit.find(word) == std::string::npos, limit);
  }
  CHECK(wait_seconds(results) > 0);
  for (const Finding& finding : results.findings) CHECK(finding.confidence >= 0.8);
}

TEST_CASE("unmatched sends and receives are reported") {
  MadeJob made = ring();
  for (int i = 0; i < 5; ++i)
    made.send(0, 601'000 + static_cast<std::uint64_t>(i) * 10,
              601'005 + static_cast<std::uint64_t>(i) * 10, 1, 99);
  made.receive(3, 601'000, 601'500, 1, 98);
  const Results results = analysed_after(made, [](const std::string&) {});
  CHECK(says(results, "5 messages were sent whose receive is not in the trace"));
  CHECK(says(results, "1 messages were received whose send is not in the trace"));
  CHECK(wait_seconds(results) > 0);
}

TEST_CASE("a damaged frame in the middle of a rank's trace is reported") {
  MadeJob made = ring();
  const Results results = analysed_after(made, [](const std::string& run) {
    const std::string path = file_of(run, 1);
    std::string bytes = test::contents(path);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
    test::write_file(path, bytes);
  });
  CHECK(says(results, "lost"));
  CHECK(wait_seconds(results) > 0);
}

TEST_CASE("a rank without a trace is reported") {
  MadeJob made = ring();
  const Results results = analysed_after(
      made, [](const std::string& run) { std::filesystem::remove(file_of(run, 2)); });
  CHECK(says(results, "rank 2 left no trace"));
  CHECK(says(results, "messages were sent whose receive is not in the trace"));
  CHECK(says(results, "collectives are judged by their other members"));
}

TEST_CASE("a rank that was cut short is reported") {
  MadeJob made = ring();
  const Results results = analysed_after(made, [](const std::string& run) {
    std::filesystem::resize_file(file_of(run, 2),
                                 std::filesystem::file_size(file_of(run, 2)) * 6 / 10);
  });
  CHECK(says(results, "the trace of rank 2 ends before MPI_Finalize"));
  for (const Finding& finding : results.findings) {
    const bool of_it = std::count(finding.culprits.begin(), finding.culprits.end(), 2) +
                           std::count(finding.victims.begin(), finding.victims.end(), 2) >
                       0;
    if (of_it) CHECK_MESSAGE(finding.confidence <= 0.5, finding.kind);
  }
}

TEST_CASE("a rank's file of a later version is reported") {
  MadeJob made = ring();
  const Results results = analysed_after(made, [](const std::string& run) {
    std::string bytes = test::contents(file_of(run, 3));
    bytes[offsetof(trace::FileHeader, version)] = 99;
    test::write_file(file_of(run, 3), bytes);
  });
  CHECK(says(results, "version"));
}

TEST_CASE("clocks of two hosts that contradict each other are reported") {
  MadeJob made = ring(2, 500);
  made.definitions.processes[1].host = "n2";
  // By the clocks, rank 1 receives this message 5,000 before it was sent.
  made.receive(1, 101'000, 101'100, 0, 50);
  made.send(0, 106'000, 106'010, 1, 50);
  const Results results = analysed_after(made, [](const std::string&) {});
  CHECK(says(results, "arrived before they were sent"));
}

TEST_CASE("a clock that runs backwards is reported") {
  MadeJob made(2);
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::uint64_t at = i % 10 == 9 ? 100 : 100 + i * 100;  // falls back to the beginning
    made.send(0, at, at + 10, 1);
    made.receive(1, at, at + 20, 0);
    for (int rank = 0; rank < 2; ++rank) made.collective(rank, at + 30, at + 40, "MPI_Barrier");
  }
  const Results results = analysed_after(made, [](const std::string&) {});
  CHECK(results.sections.size() == all_analyses().size());
}

TEST_CASE("a collective that one rank never enters is reported, and so are calls never left") {
  MadeJob made(3);
  for (int rank = 0; rank < 2; ++rank) made.collective(rank, 100, 200, "MPI_Barrier");
  made.enter(2, 150, "MPI_Recv");
  const Results results = analysed_after(made, [](const std::string&) {});
  CHECK(says(results, "calls of collectives are left out"));
}

TEST_CASE("a trace with no event, one event or one rank is analysed") {
  MadeJob nothing(3);
  CHECK(analysed_after(nothing, [](const std::string&) {}).findings.empty());
  MadeJob one(2);
  one.enter(1, 100, "MPI_Init");
  CHECK(analysed_after(one, [](const std::string&) {}).findings.empty());
  MadeJob alone(1);
  alone.enter(0, 0, "MPI_Init");
  alone.leave(0, 10, "MPI_Init");
  for (std::uint64_t i = 0; i < 5; ++i) {
    alone.isend(0, 100 * i + 20, 3, 0);
    alone.receive(0, 100 * i + 30, 100 * i + 40, 0);
    alone.collective(0, 100 * i + 60, 100 * i + 70, "MPI_Barrier");
  }
  CHECK(analysed_after(alone, [](const std::string&) {}).findings.empty());
}

TEST_CASE("no flipped byte makes the analysis crash") {
  MadeJob made = ring(3, 60);
  const Scratch scratch;
  made.written(scratch / "run");
  const std::string path = file_of(scratch / "run", 1), whole = test::contents(path);
  std::uint64_t state = 1;
  for (int round = 0; round < 40; ++round) {
    std::string bytes = whole;
    for (int flips = 0; flips < 3; ++flips) {
      state = base::mixed(state + 1);
      bytes[state % bytes.size()] = static_cast<char>(state >> 32);
    }
    test::write_file(path, bytes);
    const auto run = load_run("", scratch / "run", {});
    if (!run) continue;
    std::vector<const Row*> rows;
    for (const Row& row : all_analyses()) rows.push_back(&row);
    const auto results = run_analyses(rows, run->input({}));
    CHECK_MESSAGE(results.ok(), (results.ok() ? "" : results.error().message));
  }
}

}  // namespace
}  // namespace fathom::analysis
