// SPDX-License-Identifier: BSD-3-Clause
// Load imbalance, idle time, spread of barriers and efficiencies of jobs whose times are known.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "analysis/compare.h"
#include "analysis/time/efficiency.h"
#include "analysis/time/flat_profile.h"
#include "analysis/time/idle_time.h"
#include "analysis/time/load_imbalance.h"
#include "analysis/waits/barrier_spread.h"
#include "test/unit/analysis/loaded_job.h"

namespace fathom::analysis {
namespace {

using test::column;
using test::figure;
using test::Loaded;
using test::MadeJob;
using test::nanoseconds;
using Ranks = std::vector<std::int64_t>;

void begin(MadeJob& made, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    made.enter(rank, 0, "MPI_Init");
    made.leave(rank, 10, "MPI_Init");
  }
}
void end(MadeJob& made, int rank, std::uint64_t time_ns) {
  made.enter(rank, time_ns, "MPI_Finalize");
  made.leave(rank, time_ns + 20, "MPI_Finalize");
}

// Rank 0 computes 100 and sends; the message arrives 70 later; then rank 1 computes 100.
MadeJob one_after_the_other() {
  MadeJob made(2);
  begin(made, 2);
  made.send(0, 110, 130, 1);
  end(made, 0, 130);
  made.receive(1, 10, 180, 0);
  end(made, 1, 280);
  return made;
}

TEST_CASE("efficiencies separate the cost of ordering from the cost of the network") {
  MadeJob made = one_after_the_other();
  Loaded loaded(made);
  const auto outcome = efficiency(loaded.input);
  REQUIRE(outcome.ok());
  CHECK(figure(*outcome, "run_seconds") == doctest::Approx(270e-9).scale(0));
  CHECK(figure(*outcome, "ideal_run_seconds") == doctest::Approx(200e-9).scale(0));
  CHECK(figure(*outcome, "load_balance") == 1);
  CHECK(figure(*outcome, "communication_efficiency") == doctest::Approx(100.0 / 270));
  CHECK(figure(*outcome, "serialisation_efficiency") == doctest::Approx(0.5));
  CHECK(figure(*outcome, "transfer_efficiency") == doctest::Approx(200.0 / 270));
  CHECK(figure(*outcome, "parallel_efficiency") == doctest::Approx(100.0 / 270));
  CHECK(column<double>(*outcome, "efficiency", "ideal_seconds").at(1) ==
        doctest::Approx(200e-9).scale(0));
}

TEST_CASE("uneven computing before a collective lowers load balance only") {
  MadeJob made(4);
  begin(made, 4);
  for (int rank = 0; rank < 4; ++rank) {
    made.collective(rank, 10 + 100 * static_cast<std::uint64_t>(rank + 1), 410, "MPI_Allreduce");
    end(made, rank, 410);
  }
  Loaded loaded(made);
  const auto outcome = efficiency(loaded.input);
  REQUIRE(outcome.ok());
  CHECK(figure(*outcome, "load_balance") == doctest::Approx(250.0 / 400));
  CHECK(figure(*outcome, "serialisation_efficiency") == 1);
  CHECK(figure(*outcome, "transfer_efficiency") == 1);
  CHECK(figure(*outcome, "parallel_efficiency") == doctest::Approx(0.625));
}

TEST_CASE("a root that waits for nobody does not wait on the ideal network either") {
  MadeJob made(2);
  begin(made, 2);
  made.collective(0, 20, 25, "MPI_Bcast", 0);
  made.collective(1, 210, 220, "MPI_Bcast", 0);
  end(made, 0, 100);
  end(made, 1, 220);
  Loaded loaded(made);
  const auto outcome = efficiency(loaded.input);
  CHECK(nanoseconds(*outcome, "efficiency", "ideal_seconds") == std::vector<std::int64_t>{85, 200});
}

TEST_CASE("efficiencies of a window are left undivided where they cannot be divided") {
  MadeJob made = one_after_the_other();
  Loaded loaded(made);
  loaded.input.scope.from_ns = 60;
  loaded.input.scope.to_ns = 230;
  const auto outcome = efficiency(loaded.input);
  REQUIRE(outcome.ok());
  CHECK(figure(*outcome, "load_balance") == 1);  // 50 and 50
  CHECK(figure(*outcome, "communication_efficiency") == doctest::Approx(50.0 / 170));
  CHECK(outcome->limits.size() == 1);
}

TEST_CASE("load imbalance is the busiest rank over the mean, with what it costs the others") {
  MadeJob made(4);
  begin(made, 4);
  for (int rank = 0; rank < 4; ++rank) {
    made.collective(rank, rank == 2 ? 410 : 110, 420, "MPI_Allreduce");
    end(made, rank, 420);
  }
  Loaded loaded(made);
  const auto outcome = load_imbalance(loaded.input);
  REQUIRE(outcome.ok());
  const auto& names = column<std::string>(*outcome, "load_imbalance", "name");
  const auto& imbalance = column<double>(*outcome, "load_imbalance", "imbalance");
  REQUIRE(names.size() == 2);  // MPI_Init and MPI_Finalize are no work to balance
  CHECK(names[0] == "MPI_Allreduce");
  CHECK(names[1] == "(program)");
  CHECK(imbalance[1] == doctest::Approx(400.0 / 175));
  CHECK(column<double>(*outcome, "load_imbalance", "lost_seconds")[1] ==
        doctest::Approx(900e-9).scale(0));
  CHECK(column<Ranks>(*outcome, "load_imbalance", "top_ranks")[1] == Ranks{2, 0, 1, 3});
  CHECK(outcome->findings.empty());  // wait-states tells what it costs
}

TEST_CASE("balance by calls names the ranks that made most of them") {
  std::vector<CallRow> rows(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    rows[i].process = i;
    rows[i].function = 5;
    rows[i].count = i;
    rows[i].inclusive_ns = 100 - i;
  }
  const auto counts = balance_of(rows, {0, 1, 2}, CallMetric::kCount);
  REQUIRE(counts.size() == 1);
  CHECK(counts[0].values == std::vector<std::uint64_t>{0, 1, 2});
  CHECK(counts[0].mean() == 1);
  CHECK(counts[0].imbalance() == 2);
  CHECK(counts[0].top(9) == std::vector<std::size_t>{2, 1});  // process 0 made none
  CHECK(balance_of(rows, {0, 2}, CallMetric::kInclusiveNs)[0].top(1) ==
        std::vector<std::size_t>{0});
  CHECK(balance_of(rows, {}, CallMetric::kCount).empty());
}

TEST_CASE("calls that can wait receive, complete or probe; posting a request cannot wait") {
  trace::Definitions definitions;
  std::map<std::string, bool> expected = {{"MPI_Recv", true},  {"MPI_Sendrecv", true},
                                          {"MPI_Probe", true}, {"MPI_Waitall", true},
                                          {"MPI_Send", false}, {"MPI_Irecv", false}};
  for (const auto& [name, waits] : expected)
    definitions.functions.push_back(
        {name, mpi::meaning_of(name).group, {}, {trace::Attribute::kRequest}});
  std::size_t number = 0;
  const std::vector<bool> found = functions_that_can_wait(definitions);
  for (const auto& [name, waits] : expected) {
    const std::string shown = name;  // clang 14 captures no structured binding
    CAPTURE(shown);
    CHECK(found[number++] == waits);
  }
}

TEST_CASE("MPI_Irecv cannot wait in a trace that records no requests either") {
  trace::Definitions definitions;
  for (const char* name : {"MPI_Irecv", "MPI_Recv"})
    definitions.functions.push_back({name, trace::Group::kReceive, {}, {}});
  CHECK(functions_that_can_wait(definitions) == std::vector<bool>{false, true});
}

TEST_CASE("idle time is split into computing, in MPI, able to wait, and waiting") {
  MadeJob made = one_after_the_other();
  Loaded loaded(made);
  const auto outcome = idle_time(loaded.input);
  REQUIRE(outcome.ok());
  CHECK(column<double>(*outcome, "idle_time", "program_seconds").at(1) ==
        doctest::Approx(100e-9).scale(0));
  CHECK(column<double>(*outcome, "idle_time", "mpi_seconds").at(1) ==
        doctest::Approx(170e-9).scale(0));
  CHECK(column<double>(*outcome, "idle_time", "blocking_seconds").at(1) ==
        doctest::Approx(170e-9).scale(0));
  CHECK(column<double>(*outcome, "idle_time", "waiting_seconds").at(1) ==
        doctest::Approx(100e-9).scale(0));
  CHECK(column<double>(*outcome, "idle_time", "waiting_seconds").at(0) == 0);
  CHECK(figure(*outcome, "waiting_seconds") == doctest::Approx(100e-9).scale(0));
}

TEST_CASE("each rank's shares refer to the run's time, however long the rank itself runs") {
  // From 10 to 280; rank 0 enters MPI_Finalize at 130.
  MadeJob made = one_after_the_other();
  Loaded loaded(made);
  const auto idle = idle_time(loaded.input);
  REQUIRE(idle.ok());
  CHECK(figure(*idle, "waiting_share") == doctest::Approx(100.0 / 540));
  CHECK(nanoseconds(*idle, "idle_time", "seconds") == Ranks{120, 270});
  CHECK(nanoseconds(*idle, "idle_time", "outside_seconds") == Ranks{150, 0});
  const auto flat = flat_profile(loaded.input);
  REQUIRE(flat.ok());
  CHECK(figure(*flat, "mpi_share") == doctest::Approx((20.0 + 170) / 540));

  Loaded part(made);
  part.input.scope.from_ns = 100;
  part.input.scope.to_ns = 200;
  CHECK(figure(*idle_time(part.input), "waiting_share") ==
        doctest::Approx(10.0 / 200));  // until rank 0 sends at 110
  CHECK(nanoseconds(*idle_time(part.input), "idle_time", "outside_seconds") == Ranks{70, 0});
  CHECK(figure(*flat_profile(part.input), "mpi_share") == doctest::Approx((20.0 + 80) / 200));
}

TEST_CASE("a comparison shows the mean rank's time per function if all runs were traced") {
  MadeJob two = one_after_the_other(), four(4);
  begin(four, 4);
  for (int rank = 0; rank < 4; ++rank) {
    four.collective(rank, rank == 3 ? 410 : 210, 510, "MPI_Barrier");
    end(four, rank, 510);
  }
  Loaded first(two), last(four);
  Comparison compared;
  REQUIRE(compare_times({first.input, last.input}, compared).ok());
  std::map<std::string, const ComparedFunction*> of;
  for (const ComparedFunction& row : compared.functions) of[row.name] = &row;
  CHECK(compared.functions.front().name == "MPI_Barrier");  // changed most: from nothing to 250
  CHECK(std::isinf(of.at("MPI_Barrier")->seconds.growth));
  CHECK(of.at("(program)")->seconds.by_run[0] == doctest::Approx(100e-9).scale(0));
  CHECK(of.at("(program)")->seconds.by_run[1] ==
        doctest::Approx(250e-9).scale(0));  // three times 200, once 400
  CHECK(of.at("(program)")->seconds.growth == doctest::Approx(2.5));
  CHECK(*of.at("(program)")->exponent == doctest::Approx(std::log2(2.5)));
  CHECK(of.at("MPI_Recv")->seconds.by_run[0] == doctest::Approx(85e-9).scale(0));
  CHECK(of.at("MPI_Recv")->seconds.growth == 0);
  Comparison without;
  Input profile_alone;
  REQUIRE(compare_times({first.input, profile_alone}, without).ok());
  CHECK(without.functions.empty());
}

TEST_CASE("a comparison with a trace that lacks calls does not call their time the program's") {
  MadeJob whole = one_after_the_other(), part = one_after_the_other();
  part.definitions.selection = {"functions MPI_Send"};
  Loaded first(whole), last(part);
  Comparison compared;
  REQUIRE(compare_times({first.input, last.input}, compared).ok());
  std::map<std::string, int> names;
  for (const ComparedFunction& row : compared.functions) ++names[row.name];
  CHECK(names["(program or missing)"] == 1);
  CHECK(names["(program)"] == 0);
}

// Two rounds on MPI_COMM_WORLD, and one between them on a communicator of ranks 0 and 1.
MadeJob barriers() {
  MadeJob made(3);
  const int pair = made.add_communicator("pair", 2);
  const std::uint64_t entered[3] = {100, 400, 200};
  for (int rank = 0; rank < 3; ++rank) {
    made.collective(rank, entered[rank], 410, "MPI_Barrier");
    if (rank < 2) made.collective(rank, rank == 0 ? 520 : 500, 530, "MPI_Barrier", -1, pair);
    made.collective(rank, 600 + static_cast<std::uint64_t>(rank), 610, "MPI_Barrier");
  }
  return made;
}

TEST_CASE("the spread of barriers is given by communicator, with the rank that came last") {
  MadeJob made = barriers();
  Loaded loaded(made);
  const auto outcome = barrier_spread(loaded.input);
  REQUIRE(outcome.ok());
  CHECK(figure(*outcome, "barriers") == 3);
  CHECK(figure(*outcome, "mean_spread_seconds") == doctest::Approx((300 + 20 + 2) / 3e9).scale(0));
  CHECK(nanoseconds(*outcome, "barrier_spreads", "spread_seconds") ==
        std::vector<std::int64_t>{300, 20, 2});
  CHECK(column<Ranks::value_type>(*outcome, "barrier_spreads", "communicator") == Ranks{0, 1, 0});
  CHECK(column<Ranks::value_type>(*outcome, "barrier_spreads", "first_rank") == Ranks{0, 1, 0});
  CHECK(column<Ranks::value_type>(*outcome, "barrier_spreads", "last_rank") == Ranks{1, 0, 2});
  CHECK(column<Ranks::value_type>(*outcome, "last_at_barriers", "rank") == Ranks{1, 2, 0});
}

TEST_CASE("a window limits the spread of barriers to the barriers in it") {
  MadeJob made = barriers();
  Loaded loaded(made);
  loaded.input.scope.from_ns = 450;
  loaded.input.scope.ranks = std::set<std::int64_t>{2};
  const auto outcome = barrier_spread(loaded.input);
  CHECK(figure(*outcome, "barriers") == 1);
  CHECK(figure(*outcome, "most_spread_seconds") == doctest::Approx(2e-9).scale(0));
}

}  // namespace
}  // namespace fathom::analysis
