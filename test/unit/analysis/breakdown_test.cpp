// SPDX-License-Identifier: BSD-3-Clause
// Where the time of all ranks went: every nanosecond is in one row, of complete and of partial
// traces.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "analysis/time/efficiency.h"
#include "analysis/time/flat_profile.h"
#include "analysis/time/idle_time.h"
#include "analysis/time/load_imbalance.h"
#include "analysis/time/time_breakdown.h"
#include "analysis/time/time_profile.h"
#include "analysis/trace_limits.h"
#include "analysis/waits/wait_states.h"
#include "test/unit/analysis/loaded_job.h"

namespace fathom::analysis {
namespace {

using test::column;
using test::figure;
using test::Loaded;
using test::MadeJob;
using TimeByKind = std::map<std::string, std::uint64_t>;

// Starts at 0, or later; all leave MPI_Init together unless `left_ns` says otherwise.
void start(MadeJob& made, int rank, std::uint64_t from_ns = 0, std::uint64_t left_ns = 1000) {
  made.enter(rank, from_ns, "MPI_Init");
  made.leave(rank, left_ns, "MPI_Init");
}
void finish(MadeJob& made, int rank, std::uint64_t from_ns, std::uint64_t to_ns = 9000) {
  made.enter(rank, from_ns, "MPI_Finalize");
  made.leave(rank, to_ns, "MPI_Finalize");
}

TimeByKind rows_of(const Outcome& outcome, const std::string& table, const std::string& names) {
  const auto& kinds = column<std::string>(outcome, table, names);
  const auto& ns = column<std::uint64_t>(outcome, table, "ns");
  TimeByKind times;
  for (std::size_t i = 0; i < kinds.size(); ++i) times[kinds[i]] += ns[i];
  return times;
}

std::uint64_t sum_of(const TimeByKind& times) {
  return std::accumulate(times.begin(), times.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& row) { return sum + row.second; });
}

bool has_figure(const Outcome& outcome, const std::string& name) {
  for (const Figure& one : outcome.section.figures) {
    if (one.name == name) return true;
  }
  return false;
}

// Rank 0 computes 600 and sends; rank 1 has waited for that since it left MPI_Init.
MadeJob late_sender() {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) start(made, rank);
  made.send(0, 1600, 1650, 1);
  made.receive(1, 1000, 1700, 0);
  made.enter(1, 1700, "MPI_Probe");
  made.leave(1, 1730, "MPI_Probe");
  for (int rank = 0; rank < 2; ++rank) finish(made, rank, 2000);
  return made;
}

TEST_CASE("computing, waits, transfers and the unexplained add up to all ranks' time") {
  MadeJob made = late_sender();
  Loaded loaded(made);
  const auto outcome = time_breakdown(loaded.input);
  REQUIRE(outcome.ok());
  const TimeByKind rows = rows_of(*outcome, "time", "kind");
  CHECK(rows == TimeByKind{{"computing", 600 + 350 + 270},
                           {"late-sender", 600},
                           {"transferring", 50 + 100},
                           {"unexplained", 30}});
  CHECK(sum_of(rows) == 2 * 1000);
  CHECK(rows_of(*outcome, "unexplained", "name") == TimeByKind{{"MPI_Probe", 30}});
  CHECK(figure(*outcome, "unexplained_share") == doctest::Approx(0.015));
  CHECK(figure(*outcome, "span_seconds") == doctest::Approx(1000e-9).scale(0));
  CHECK(column<double>(*outcome, "time_by_rank", "waiting_seconds").at(1) ==
        doctest::Approx(600e-9).scale(0));
}

TEST_CASE("an imbalance before a barrier is a wait at it, and the rest of the barrier a transfer") {
  MadeJob made(4);
  for (int rank = 0; rank < 4; ++rank) {
    start(made, rank);
    made.collective(rank, rank == 2 ? 1900 : 1100, 1910, "MPI_Barrier");
    finish(made, rank, 2000);
  }
  Loaded loaded(made);
  const TimeByKind rows = rows_of(*time_breakdown(loaded.input), "time", "kind");
  CHECK(rows == TimeByKind{{"computing", 3 * 190 + 990},
                           {"wait-at-barrier", 3 * 800},
                           {"transferring", 4 * 10}});
  CHECK(sum_of(rows) == 4 * 1000);
}

TEST_CASE("after the wait for the root, the rest of a broadcast is not explained") {
  MadeJob made(3);
  for (int rank = 0; rank < 3; ++rank) {
    start(made, rank);
    made.collective(rank, rank == 0 ? 1500 : 1100, 1600, "MPI_Bcast", 0);
    finish(made, rank, 2000);
  }
  Loaded loaded(made);
  const auto outcome = time_breakdown(loaded.input);
  const TimeByKind rows = rows_of(*outcome, "time", "kind");
  CHECK(rows.at("late-broadcast") == 2 * 400);
  CHECK(rows_of(*outcome, "unexplained", "name") == TimeByKind{{"MPI_Bcast", 3 * 100}});
  CHECK(sum_of(rows) == 3 * 1000);
}

TEST_CASE("a rank that starts late is start-up and no imbalance") {
  MadeJob made(2);
  start(made, 0);
  start(made, 1, 800, 1400);
  for (int rank = 0; rank < 2; ++rank) {
    made.collective(rank, rank == 0 ? 1100 : 1500, 1510, "MPI_Barrier");
    finish(made, rank, 2300);
  }
  Loaded loaded(made);
  const auto outcome = time_breakdown(loaded.input);
  const TimeByKind rows = rows_of(*outcome, "time", "kind");
  CHECK(rows.at("start-up") == 400);
  CHECK(sum_of(rows) == 2 * 1300);
  CHECK(figure(*outcome, "startup_seconds") == doctest::Approx(1000e-9).scale(0));
  CHECK(figure(*outcome, "startup_skew_seconds") == doctest::Approx(800e-9).scale(0));
  const auto imbalance = load_imbalance(loaded.input);
  CHECK(imbalance->findings.empty());  // both compute 890
  const auto waits = wait_states(loaded.input);
  REQUIRE(waits->findings.size() == 1);
  CHECK(waits->findings[0].kind == "start-up");
  CHECK(nanoseconds(*waits, "waits", "seconds") ==
        std::vector<std::int64_t>{400, 800});  // MPI_Init too
  for (const std::string& name : column<std::string>(*imbalance, "load_imbalance", "name"))
    CHECK(name != "MPI_Init");
}

TEST_CASE("a long tail after the last call is one rank's computing and the end of the others") {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) {
    start(made, rank);
    made.collective(rank, 1100, 1110, "MPI_Barrier");
    finish(made, rank, rank == 0 ? 8000 : 1200);
  }
  Loaded loaded(made);
  const auto outcome = time_breakdown(loaded.input);
  const TimeByKind rows = rows_of(*outcome, "time", "kind");
  CHECK(rows.at("end") == 6800);
  CHECK(rows.at("computing") == 100 + 6890 + 100 + 90);
  CHECK(sum_of(rows) == 2 * 7000);
  CHECK(figure(*outcome, "end_seconds") == doctest::Approx(1000e-9).scale(0));
}

TEST_CASE("a nested call's wait is counted once, in the outermost call") {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) {
    start(made, rank);
    const std::uint64_t from_ns = rank == 0 ? 1700 : 1100;
    made.enter(rank, from_ns, "MPI_File_open");
    made.collective(rank, from_ns + 10, 1750, "MPI_Barrier");
    made.leave(rank, 1800, "MPI_File_open");
    finish(made, rank, 2000);
  }
  Loaded loaded(made);
  const auto outcome = time_breakdown(loaded.input);
  const TimeByKind rows = rows_of(*outcome, "time", "kind");
  CHECK(rows.at("wait-at-barrier") == 600);
  CHECK(rows.at("transferring") == 2 * 40);
  CHECK(rows_of(*outcome, "unexplained", "name") == TimeByKind{{"MPI_File_open", 2 * 60}});
  CHECK(sum_of(rows) == 2 * 1000);
}

TEST_CASE("a window divides the window's time, start-up and end included") {
  MadeJob made = late_sender();
  Loaded loaded(made);
  loaded.input.scope.from_ns = 900;
  loaded.input.scope.to_ns = 1300;
  const TimeByKind rows = rows_of(*time_breakdown(loaded.input), "time", "kind");
  CHECK(rows == TimeByKind{{"computing", 300}, {"late-sender", 300}, {"start-up", 2 * 100}});
}

TEST_CASE("time in phases that were not chosen has a row of its own") {
  MadeJob made(1);
  made.definitions.phases = {"solve"};
  start(made, 0);
  made.add(0, trace::EventKind::kPhaseBegin, 1200).code = 0;
  made.enter(0, 1300, "MPI_Probe");
  made.leave(0, 1350, "MPI_Probe");
  made.add(0, trace::EventKind::kPhaseEnd, 1500).code = 0;
  made.enter(0, 1600, "MPI_Probe");
  made.leave(0, 1700, "MPI_Probe");
  finish(made, 0, 2000);
  Loaded loaded(made);
  loaded.input.scope.phases = {{"solve"}};
  const TimeByKind rows = rows_of(*time_breakdown(loaded.input), "time", "kind");
  CHECK(rows == TimeByKind{{"computing", 250}, {"unexplained", 50}, {"other-phases", 700}});
}

// Of rank 0's calls only the send and a sum of others are recorded.
MadeJob sampled_job() {
  MadeJob made(2);
  made.definitions.selection = {"sample 10"};
  for (int rank = 0; rank < 2; ++rank) start(made, rank);
  made.send(0, 1600, 1650, 1);
  made.receive(1, 1000, 1700, 0);
  made.enter(0, 1990, "MPI_Test");
  made.leave(0, 1990, "MPI_Test");
  trace::Event& sum = made.add(0, trace::EventKind::kSampled, 1995);
  sum.function = static_cast<std::uint32_t>(made.definitions.functions.size() - 1);
  sum.count = 9;
  sum.offset = 200;
  for (int rank = 0; rank < 2; ++rank) finish(made, rank, 2000);
  return made;
}

TEST_CASE("a sampled trace uses the exact sums of the calls that it left out") {
  MadeJob made = sampled_job();
  Loaded loaded(made);
  const auto outcome = time_breakdown(loaded.input);
  const TimeByKind rows = rows_of(*outcome, "time", "kind");
  CHECK(rows.at("computing") == 950 - 200 + 300);
  CHECK(rows_of(*outcome, "unexplained", "name") == TimeByKind{{"MPI_Test", 200}});
  CHECK(sum_of(rows) == 2 * 1000);
  const auto found = efficiency(loaded.input);
  CHECK(figure(*found, "load_balance") == doctest::Approx(525.0 / 750));
  CHECK(figure(*found, "parallel_efficiency") == doctest::Approx(0.525));
  CHECK(!has_figure(*found, "transfer_efficiency"));
  CHECK(!has_figure(*found, "serialisation_efficiency"));
  CHECK(!has_figure(*idle_time(loaded.input), "waiting_share"));
  CHECK(!has_figure(*wait_states(loaded.input), "wait_share"));
  CHECK(has_figure(*flat_profile(loaded.input), "mpi_share"));
}

TEST_CASE("a trace that lacks calls gives no efficiency, balance or share of MPI") {
  const std::vector<std::vector<std::string>> partial = {
      {"functions MPI_Send"}, {"from 0.5", "to 0.6"}, {"phases solve"}};
  for (const auto& selection : partial) {
    CAPTURE(selection[0]);
    MadeJob made = late_sender();
    made.definitions.selection = selection;
    Loaded loaded(made);
    const auto outcome = time_breakdown(loaded.input);
    const TimeByKind rows = rows_of(*outcome, "time", "kind");
    CHECK(rows.count("computing") == 0);
    CHECK(rows.at("computing-or-missing") == 600 + 350 + 270);
    CHECK(!has_figure(*outcome, "unexplained_share"));
    const auto found = efficiency(loaded.input);
    CHECK(has_figure(*found, "not_given"));
    CHECK(!has_figure(*found, "parallel_efficiency"));
    CHECK(has_figure(*load_imbalance(loaded.input), "not_given"));
    CHECK(load_imbalance(loaded.input)->findings.empty());
    CHECK(!has_figure(*flat_profile(loaded.input), "mpi_share"));
    CHECK(!has_figure(*idle_time(loaded.input), "waiting_share"));
    CHECK(!has_figure(*wait_states(loaded.input), "wait_share"));
  }
}

TEST_CASE("time outside the recorded calls is not called the program's where calls are missing") {
  for (const bool partial : {false, true}) {
    CAPTURE(partial);
    MadeJob made = late_sender();
    if (partial) made.definitions.selection = {"functions MPI_Send"};
    Loaded loaded(made);
    const std::string name = partial ? "(program or missing)" : "(program)";
    const auto calls = flat_profile(loaded.input);
    const auto& names = column<std::string>(*calls, "functions", "name");
    CHECK(std::count(names.begin(), names.end(), name) == 1);
    bool in_bins = false;
    const auto over_time = time_profile(loaded.input);
    for (const Table& table : over_time->section.tables) {
      for (const NamedColumn& column : table.columns) in_bins = in_bins || column.name == name;
    }
    CHECK(in_bins);
  }
}

TEST_CASE("a trace with one moment for each call gives no efficiency, balance or share of MPI") {
  MadeJob made = late_sender();
  made.definitions.source = "mpic";
  Loaded loaded(made);
  for (const auto& given : {efficiency(loaded.input), load_imbalance(loaded.input)}) {
    CHECK(has_figure(*given, "not_given"));
    CHECK(!has_figure(*given, "parallel_efficiency"));
  }
  CHECK(!has_figure(*flat_profile(loaded.input), "mpi_share"));
  CHECK(rows_of(*time_breakdown(loaded.input), "time", "kind").count("computing") == 0);
  const std::vector<std::string> limits = limits_of_trace(made.definitions);
  REQUIRE(limits.size() == 1);
  CHECK(limits[0].find("one moment for each call") != std::string::npos);
}

TEST_CASE("a trace without some of the ranks gives no efficiency, but knows what its ranks did") {
  MadeJob made = late_sender();
  made.definitions.selection = {"ranks 0-1"};
  made.definitions.world_size = 4;
  Loaded loaded(made);
  CHECK(has_figure(*efficiency(loaded.input), "not_given"));
  CHECK(has_figure(*load_imbalance(loaded.input), "not_given"));
  CHECK(has_figure(*flat_profile(loaded.input), "mpi_share"));
  CHECK(rows_of(*time_breakdown(loaded.input), "time", "kind").count("computing") == 1);
}

TEST_CASE("a pause makes the program's own time unknown") {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) {
    start(made, rank);
    if (rank == 0) made.add(0, trace::EventKind::kPause, 1100).code = 1;
    if (rank == 0) made.add(0, trace::EventKind::kResume, 1900);
    made.collective(rank, 1950, 1960, "MPI_Barrier");
    finish(made, rank, 2000);
  }
  Loaded loaded(made);
  CHECK(rows_of(*time_breakdown(loaded.input), "time", "kind").count("computing") == 0);
  CHECK(has_figure(*efficiency(loaded.input), "not_given"));
  CHECK(has_figure(*load_imbalance(loaded.input), "not_given"));
}

// Of one rank, for the other.
void add_wait(profile::Profile& profile, const char* kind, const char* function, std::int64_t rank,
              std::uint64_t ns) {
  profile::CallWaits& waits = profile.waits.emplace_back();
  waits.kind = kind;
  waits.function = function;
  waits.rank = {rank};
  waits.awaited = {1 - rank};
  waits.waits = {1};
  waits.total_ns = waits.longest_ns = {ns};
}

// Two ranks of 1 s and 0.9 s.
profile::Profile timed_profile() {
  profile::Profile profile;
  profile.world_size = 2;
  profile.application.seconds = 1;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    profile::Rank one;
    one.rank = rank;
    one.seconds = rank == 0 ? 1 : 0.9;
    profile.ranks.push_back(one);
  }
  const auto call = [&](const char* function, std::uint64_t first_ns, std::uint64_t second_ns) {
    profile::CallTimes block;
    block.function = function;
    block.rank = {0, 1};
    block.calls = {1, 1};
    block.total_ns = block.shortest_ns = block.longest_ns = {first_ns, second_ns};
    block.bytes = {0, 0};
    profile.calls.push_back(block);
  };
  call("MPI_Recv", 300'000'000, 100'000'000);
  call("MPI_Iprobe", 50'000'000, 0);
  add_wait(profile, "late-sender", "MPI_Recv", 0, 250'000'000);
  profile.coverage.waits.emplace();
  profile.coverage.waits->left_out_ns = 40'000'000;
  return profile;
}

TEST_CASE("a profile's calls and waits add up to all ranks' time too") {
  const profile::Profile profile = timed_profile();
  Input input;
  input.profile = &profile;
  const auto outcome = time_breakdown(input);
  REQUIRE(outcome.ok());
  const TimeByKind rows = rows_of(*outcome, "time", "kind");
  CHECK(rows == TimeByKind{{"computing", 650'000'000 + 800'000'000},
                           {"late-sender", 250'000'000},
                           {"transferring", 110'000'000},
                           {"unexplained", 90'000'000},
                           {"start-up-and-end", 100'000'000}});
  CHECK(sum_of(rows) == 2'000'000'000);
  CHECK(rows_of(*outcome, "unexplained", "name") ==
        TimeByKind{{"MPI_Iprobe", 50'000'000},
                   {"calls too short to be looked at for waits", 40'000'000}});
}

TEST_CASE("a polling loop of a profile waits between its calls, too") {
  profile::Profile profile = timed_profile();
  add_wait(profile, "polling", "MPI_Iprobe", 0, 70'000'000);
  add_wait(profile, "wait-at-init", "MPI_Init", 0, 30'000'000);  // before the time that is divided
  Input input;
  input.profile = &profile;
  const TimeByKind rows = rows_of(*time_breakdown(input), "time", "kind");
  CHECK(rows == TimeByKind{{"computing", 630'000'000 + 800'000'000},
                           {"late-sender", 250'000'000},
                           {"polling", 70'000'000},
                           {"transferring", 110'000'000},
                           {"unexplained", 40'000'000},
                           {"start-up-and-end", 100'000'000}});
  CHECK(sum_of(rows) == 2'000'000'000);
}

TEST_CASE("a rank that waits in MPI_Finalize does not compute") {
  profile::Profile profile = timed_profile();
  profile.ranks[1].seconds -= 0.06;
  add_wait(profile, "wait-at-finalize", "MPI_Finalize", 1, 60'000'000);
  Input input;
  input.profile = &profile;
  const TimeByKind rows = rows_of(*time_breakdown(input), "time", "kind");
  CHECK(rows.at("computing") == 650'000'000 + 740'000'000);
  CHECK(rows.at("start-up-and-end") == 160'000'000);
  CHECK(sum_of(rows) == 2'000'000'000);
}

TEST_CASE("a profile whose waits are unknown explains nothing of the time in MPI") {
  profile::Profile profile = timed_profile();
  profile.waits.clear();
  profile.coverage.waits.reset();
  profile.ranks.pop_back();
  Input input;
  input.profile = &profile;
  profile.calls[0].total_ns[1] = 0;
  const TimeByKind rows = rows_of(*time_breakdown(input), "time", "kind");
  CHECK(rows == TimeByKind{{"computing", 650'000'000},
                           {"unexplained", 350'000'000},
                           {"not-reported", 1'000'000'000}});
}

TEST_CASE("calls of threads that took longer than their rank are not divided") {
  profile::Profile profile = timed_profile();
  profile.calls[0].total_ns[1] = 5'000'000'000;
  Input input;
  input.profile = &profile;
  const auto outcome = time_breakdown(input);
  CHECK(outcome->section.tables.empty());
  CHECK(outcome->limits.size() == 1);
}

trace::Span span_of_one(const std::function<void(MadeJob&)>& make) {
  const test::Scratch scratch;
  MadeJob made(1);
  make(made);
  const trace::Trace trace = made.written(scratch / "run");
  return trace::ProgramSpans(trace).of(0);
}

TEST_CASE("the program's time is found however long MPI_Init and MPI_Finalize take") {
  const std::uint64_t second = 1'000'000'000;
  const trace::Span span = span_of_one([&](MadeJob& made) {
    made.enter(0, 0, "MPI_Init");
    made.collective(0, 1, second, "MPI_Allgather");  // of the library's own
    made.leave(0, 2 * second, "MPI_Init");
    made.collective(0, 3 * second, 4 * second, "MPI_Barrier");
    made.enter(0, 5 * second, "MPI_Finalize");
    made.collective(0, 60 * second, 60 * second + 1, "MPI_Barrier");
    made.leave(0, 61 * second, "MPI_Finalize");
  });
  CHECK(span.from_ns == 2 * second);
  CHECK(span.to_ns == 5 * second);
}

TEST_CASE(
    "without MPI_Init and MPI_Finalize the program's time is from the first to the last event") {
  const trace::Span slice = span_of_one([](MadeJob& made) {
    made.collective(0, 40, 50, "MPI_Barrier");
    made.collective(0, 5'000'000, 6'000'000, "MPI_Barrier");
  });
  CHECK(slice.from_ns == 40);
  CHECK(slice.to_ns == 6'000'000);
  const trace::Span cut_inside_init =
      span_of_one([](MadeJob& made) { made.enter(0, 100, "MPI_Init"); });
  CHECK(cut_inside_init.from_ns == 100);
  CHECK(cut_inside_init.to_ns == 100);
}

}  // namespace
}  // namespace fathom::analysis
