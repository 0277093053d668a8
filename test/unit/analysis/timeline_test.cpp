// SPDX-License-Identifier: BSD-3-Clause
// The grid of a job over time: which rows there are, what lies in the cells, and where it begins.
#include "analysis/time/timeline.h"

#include <doctest/doctest.h>

#include <map>
#include <tuple>

#include "test/unit/analysis/loaded_job.h"

namespace fathom::analysis {
namespace {

using test::column;
using test::figure;
using test::Loaded;
using test::MadeJob;
using test::nanoseconds;
using Numbers = std::vector<std::int64_t>;

// 960 ns of work in bins of 2 ns, from 1000 to 1960, between a long start and a long end.
MadeJob job_with_a_long_start(int ranks) {
  MadeJob made(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto late = static_cast<std::uint64_t>(rank);
    made.enter(rank, 0, "MPI_Init");
    made.leave(rank, 1000 + late, "MPI_Init");
    made.collective(rank, 1100, 1110, "MPI_Barrier");
    made.enter(rank, 1960 - late, "MPI_Finalize");
    made.leave(rank, 5000, "MPI_Finalize");
  }
  return made;
}

// Nanoseconds by row, group and bin.
std::map<std::tuple<std::int64_t, std::string, std::int64_t>, std::int64_t> cells_of(
    const Outcome& outcome) {
  std::map<std::tuple<std::int64_t, std::string, std::int64_t>, std::int64_t> cells;
  const auto& rows = column<std::int64_t>(outcome, "cells", "row");
  const auto& bins = column<std::int64_t>(outcome, "cells", "bin");
  const auto& groups = column<std::string>(outcome, "cells", "group");
  const auto ns = nanoseconds(outcome, "cells", "seconds");
  for (std::size_t i = 0; i < rows.size(); ++i) cells[{rows[i], groups[i], bins[i]}] = ns[i];
  return cells;
}

TEST_CASE("a timeline spans the first end of MPI_Init to the last beginning of MPI_Finalize") {
  MadeJob made = job_with_a_long_start(2);
  Loaded loaded(made);
  const auto outcome = timeline(loaded.input);
  REQUIRE(outcome.ok());
  CHECK(figure(*outcome, "from_s") == doctest::Approx(1000e-9).scale(0));
  CHECK(figure(*outcome, "to_s") == doctest::Approx(1960e-9).scale(0));
  CHECK(figure(*outcome, "bin_seconds") == doctest::Approx(2e-9).scale(0));
  const auto cells = cells_of(*outcome);
  for (std::int64_t bin = 50; bin < 55; ++bin) {
    CHECK(cells.at({0, "collective", bin}) == 2);
    CHECK(cells.at({1, "collective", bin}) == 2);
  }
  CHECK(cells.count({0, "collective", 49}) == 0);
  CHECK(cells.count({0, "collective", 55}) == 0);
  CHECK(cells.at({1, "environment", 0}) == 1);  // rank 1 leaves MPI_Init at 1001
  CHECK(cells.count({0, "environment", 0}) == 0);
  CHECK(cells.at({1, "environment", 479}) == 1);  // and enters MPI_Finalize at 1959
}

TEST_CASE("a window fills the whole timeline and may begin before the end of MPI_Init") {
  MadeJob made = job_with_a_long_start(2);
  Loaded loaded(made);
  loaded.input.scope.from_ns = 520;
  loaded.input.scope.to_ns = 1480;
  const auto outcome = timeline(loaded.input);
  REQUIRE(outcome.ok());
  CHECK(figure(*outcome, "from_s") == doctest::Approx(520e-9).scale(0));
  CHECK(cells_of(*outcome).at({0, "environment", 0}) == 2);
  CHECK(cells_of(*outcome).at({0, "collective", 290}) == 2);
}

TEST_CASE("the timeline of a trace without MPI_Init spans its first event to its last") {
  MadeJob made(1);
  made.collective(0, 40, 50, "MPI_Barrier");
  made.collective(0, 990, 1000, "MPI_Barrier");
  Loaded loaded(made);
  const auto outcome = timeline(loaded.input);
  REQUIRE(outcome.ok());
  CHECK(figure(*outcome, "from_s") == doctest::Approx(40e-9).scale(0));
  CHECK(figure(*outcome, "to_s") == doctest::Approx(1000e-9).scale(0));
}

TEST_CASE("a timeline attributes a call inside another call to the outer one") {
  MadeJob made(1);
  made.enter(0, 0, "MPI_Allreduce");
  made.send(0, 100, 200, 0);
  made.leave(0, 480, "MPI_Allreduce");
  Loaded loaded(made);
  const auto outcome = timeline(loaded.input);
  REQUIRE(outcome.ok());
  std::int64_t sum = 0;
  for (const auto& [place, ns] : cells_of(*outcome)) {
    CHECK(std::get<1>(place) == "collective");
    sum += ns;
  }
  CHECK(sum == 480);
}

TEST_CASE("a bin of a timeline shows the innermost named phase") {
  MadeJob made(1);
  made.definitions.phases = {"outer", "inner"};
  made.enter(0, 0, "MPI_Init");
  made.leave(0, 0, "MPI_Init");
  made.add(0, trace::EventKind::kPhaseBegin, 100).code = 0;
  made.add(0, trace::EventKind::kPhaseBegin, 200).code = 1;
  made.add(0, trace::EventKind::kPhaseEnd, 300).code = 1;
  made.add(0, trace::EventKind::kPhaseEnd, 350).code = 0;
  made.enter(0, 480, "MPI_Finalize");
  made.leave(0, 490, "MPI_Finalize");
  Loaded loaded(made);
  const auto outcome = timeline(loaded.input);
  REQUIRE(outcome.ok());
  std::map<std::string, std::int64_t> sums;
  const auto& names = column<std::string>(*outcome, "phases", "name");
  const auto ns = nanoseconds(*outcome, "phases", "seconds");
  for (std::size_t i = 0; i < names.size(); ++i) sums[names[i]] += ns[i];
  CHECK(sums == std::map<std::string, std::int64_t>{{"outer", 150}, {"inner", 100}});
}

TEST_CASE("rows of a timeline are threads, then ranks, then neighbouring ranks") {
  MadeJob made(5);
  for (trace::Process& process : made.definitions.processes) process.threads = {"main", "worker"};
  const std::vector<std::uint32_t> all = {0, 1, 2, 3, 4};
  const auto threads = timeline_rows(made.definitions, all, 10);
  REQUIRE(threads.size() == 10);
  CHECK(threads[3].first_process == 1);
  CHECK(threads[3].thread == 1);
  const auto ranks = timeline_rows(made.definitions, all, 9);
  REQUIRE(ranks.size() == 5);
  CHECK(ranks[4].thread == -1);
  CHECK(ranks[4].threads == 2);
  const auto neighbours = timeline_rows(made.definitions, all, 4);
  REQUIRE(neighbours.size() == 3);
  CHECK(neighbours[1].first_process == 2);
  CHECK(neighbours[1].last_process == 3);
  CHECK(neighbours[1].threads == 4);
  CHECK(neighbours[2].threads == 2);
}

TEST_CASE("a timeline has each thread's calls in its own row") {
  MadeJob made(1);
  made.definitions.processes[0].threads = {"main", "worker"};
  made.enter(0, 0, "MPI_Barrier");
  made.enter(0, 10, "MPI_Send").thread = 1;
  made.leave(0, 100, "MPI_Send").thread = 1;
  made.leave(0, 480, "MPI_Barrier");
  Loaded loaded(made);
  const auto outcome = timeline(loaded.input);
  REQUIRE(outcome.ok());
  CHECK(column<std::int64_t>(*outcome, "rows", "thread") == Numbers{0, 1});
  for (const auto& [place, ns] : cells_of(*outcome))
    CHECK(std::get<1>(place) == (std::get<0>(place) == 0 ? "collective" : "send"));
}

}  // namespace
}  // namespace fathom::analysis
