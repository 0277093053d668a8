// SPDX-License-Identifier: BSD-3-Clause
// A window of a traced run: its seconds, its shares, its waits; and the common time base of a
// trace.
#include <doctest/doctest.h>

#include "analysis/load_run.h"
#include "analysis/run.h"
#include "test/unit/analysis/evidence.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/engine/made_job.h"

namespace fathom::analysis {
namespace {

using test::evidence;
using test::MadeJob;
using test::Scratch;

constexpr std::uint64_t kMillisecond = 1'000'000;

// Three ranks in a line, ten times 100 ms: rank 0 works 60 ms, sends to rank 1, which passes it on
// to rank 2; so rank 0 delays rank 1 directly, and rank 2 through it. MPI_Init takes the first 200
// ms.
MadeJob delayed_line() {
  MadeJob made(3);
  for (int rank = 0; rank < 3; ++rank) {
    made.enter(rank, 0, "MPI_Init");
    made.leave(rank, 200 * kMillisecond, "MPI_Init");
  }
  for (std::uint64_t i = 0; i < 10; ++i) {
    const std::uint64_t at = (200 + 100 * i) * kMillisecond;
    made.send(0, at + 60 * kMillisecond, at + 61 * kMillisecond, 1);
    made.receive(1, at + 10 * kMillisecond, at + 62 * kMillisecond, 0);
    made.send(1, at + 63 * kMillisecond, at + 64 * kMillisecond, 2);
    made.receive(2, at + 10 * kMillisecond, at + 65 * kMillisecond, 1);
    for (int rank = 0; rank < 3; ++rank)
      made.collective(rank, at + 70 * kMillisecond, at + 71 * kMillisecond, "MPI_Barrier");
  }
  for (int rank = 0; rank < 3; ++rank) {
    made.enter(rank, 1'200 * kMillisecond, "MPI_Finalize");
    made.leave(rank, 1'200 * kMillisecond + 1, "MPI_Finalize");
  }
  made.definitions.application.seconds =
      0.9;  // from MPI_Init to MPI_Finalize, as the recorder gives it
  return made;
}

Results analysed_in(const std::string& run_directory, const Scope& scope) {
  const auto run = load_run("", run_directory, scope);
  REQUIRE_MESSAGE(run.ok(), (run.ok() ? "" : run.error().message));
  const Thresholds thresholds;
  const Input input = run->input(thresholds);
  const auto rows = default_analyses(input);
  auto results = run_analyses(rows, input);
  REQUIRE(results.ok());
  return std::move(*results);
}

const Finding* found(const Results& results, const std::string& kind) {
  for (const Finding& finding : results.findings) {
    if (finding.kind == kind) return &finding;
  }
  return nullptr;
}

Scope window(std::uint64_t from_ns, std::uint64_t to_ns) {
  Scope scope;
  scope.from_ns = from_ns;
  scope.to_ns = to_ns;
  return scope;
}

TEST_CASE("a delay in a window is measured in the window, not in the whole run") {
  const Scratch scratch;
  MadeJob made = delayed_line();
  made.written(scratch / "run");
  const Results whole = analysed_in(scratch / "run", {});
  REQUIRE(found(whole, "load-imbalance"));
  CHECK(*found(whole, "load-imbalance")->seconds ==
        doctest::Approx(10 * (0.050 + 0.053)).epsilon(0.05));
  const Results two = analysed_in(scratch / "run", window(500 * kMillisecond, 700 * kMillisecond));
  REQUIRE(found(two, "load-imbalance"));
  CHECK(*found(two, "load-imbalance")->seconds ==
        doctest::Approx(2 * (0.050 + 0.053)).epsilon(0.05));
  // From the middle of one round's waits to the middle of another's: a part of each counts, and is
  // reported inside the window.
  const Results middle =
      analysed_in(scratch / "run", window(520 * kMillisecond, 540 * kMillisecond));
  REQUIRE(found(middle, "load-imbalance"));
  double sum = 0;
  for (const Finding& finding : middle.findings) {
    sum += finding.seconds.value_or(0);
    for (const TimeWindow& when : finding.windows) {
      CHECK(when.from_s >= 0.520);
      CHECK(when.to_s <= 0.540);
    }
  }
  CHECK(sum == doctest::Approx(0.040));
}

TEST_CASE("seconds and shares of a window refer to the window's time") {
  const Scratch scratch;
  MadeJob made = delayed_line();
  made.written(scratch / "run");
  Scope scope = window(500 * kMillisecond, 700 * kMillisecond);
  CHECK(analysed_in(scratch / "run", scope).seconds == doctest::Approx(0.2));
  CHECK(analysed_in(scratch / "run", scope).all_ranks_seconds == doctest::Approx(0.6));
  scope.ranks = {1, 2};
  const Results results = analysed_in(scratch / "run", scope);
  CHECK(results.all_ranks_seconds == doctest::Approx(0.4));
  const Finding* delay = found(results, "load-imbalance");
  REQUIRE(delay);
  CHECK(evidence(*delay, "share_of_all_time") == doctest::Approx(*delay->seconds / 0.4));
}

TEST_CASE(
    "a run's seconds and shares span MPI_Init to MPI_Finalize, its critical path all events") {
  const Scratch scratch;
  MadeJob made = delayed_line();
  made.written(scratch / "run");
  const Results results = analysed_in(scratch / "run", {});
  CHECK(results.seconds == doctest::Approx(1.0));
  CHECK(results.all_ranks_seconds == doctest::Approx(3.0));
  for (const NamedSection& section : results.sections) {
    for (const Figure& figure : section.section.figures) {
      if (figure.name == "path_seconds")
        CHECK(std::get<double>(figure.value) == doctest::Approx(1.2));
    }
  }
  const Finding* delay = found(results, "load-imbalance");
  REQUIRE(delay);
  CHECK(evidence(*delay, "share_of_all_time") ==
        doctest::Approx(*delay->seconds / results.all_ranks_seconds));
}

TEST_CASE("a trace that omits calls by choice says so and names the results it affects") {
  const auto limits_with = [](const std::vector<std::string>& selection) {
    const Scratch scratch;
    MadeJob made = delayed_line();
    made.definitions.selection = selection;
    made.written(scratch / "run");
    std::string all;
    for (const std::string& limit : analysed_in(scratch / "run", {}).limits) all += limit + "\n";
    return all;
  };
  CHECK(limits_with({}).find("the trace is partial") == std::string::npos);
  const std::string calls = limits_with({"functions MPI_Send,MPI_I*", "sample 10"});
  CHECK(calls.find("only some calls were recorded (sample 10)") != std::string::npos);
  CHECK(calls.find("the trace is partial (functions MPI_Send,MPI_I*)") != std::string::npos);
  CHECK(calls.find("no efficiency, balance or share of MPI is given") != std::string::npos);
  CHECK(limits_with({"ranks 0-1"}).find("only chosen ranks are in the trace (ranks 0-1)") !=
        std::string::npos);
  CHECK(limits_with({"phases solve"}).find("only part of the run was recorded (phases solve)") !=
        std::string::npos);
  CHECK(limits_with({"from 0.5", "to 0.6"})
            .find("calls that cross its edges and the waits in them are not counted") !=
        std::string::npos);
}

TEST_CASE("a window outside the trace, or with its ends swapped, is refused") {
  const Scratch scratch;
  MadeJob made = delayed_line();
  made.written(scratch / "run");
  const auto outside =
      load_run("", scratch / "run", window(9'000 * kMillisecond, 10'000 * kMillisecond));
  REQUIRE(!outside.ok());
  CHECK(outside.error().message.find("1.200 s") != std::string::npos);
  CHECK(!load_run("", scratch / "run", window(700 * kMillisecond, 600 * kMillisecond)).ok());
  CHECK(load_run("", scratch / "run", window(1'100 * kMillisecond, 10'000 * kMillisecond)).ok());
}

}  // namespace
}  // namespace fathom::analysis
