// SPDX-License-Identifier: BSD-3-Clause
// Flat profile and profiles over time, on jobs written by hand.
#include <doctest/doctest.h>

#include <map>
#include <tuple>

#include "analysis/scope/profile_of_trace.h"
#include "analysis/time/flat_profile.h"
#include "analysis/time/time_profile.h"
#include "test/unit/analysis/loaded_job.h"
#include "test/unit/engine/made_job.h"

namespace fathom::analysis {
namespace {

using test::Loaded;
using test::MadeJob;

// 0 to 1000 ns; rank 0 receives for 600, rank 1 sends for 10, inside a call of another name for
// 100.
MadeJob two_ranks() {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) {
    made.enter(rank, 0, "MPI_Init");
    made.leave(rank, 10, "MPI_Init");
  }
  made.receive(0, 100, 700, 1);
  made.enter(1, 600, "MPI_Sendrecv");
  made.send(1, 640, 650, 0, 0, 64);
  made.leave(1, 700, "MPI_Sendrecv");
  for (int rank = 0; rank < 2; ++rank) {
    made.enter(rank, 990, "MPI_Finalize");
    made.leave(rank, 1000, "MPI_Finalize");
  }
  return made;
}

std::map<std::string, std::vector<CallRow>> by_name(const Loaded& loaded) {
  const auto rows = call_rows(loaded.input);
  REQUIRE(rows.ok());
  std::map<std::string, std::vector<CallRow>> named;
  for (const CallRow& row : *rows) {
    named[row.function == kProgram ? "(program)"
                                   : loaded.trace.definitions().functions[row.function].name]
        .push_back(row);
  }
  return named;
}

TEST_CASE("a flat profile has inclusive and exclusive times and leaves the rest to the program") {
  MadeJob made = two_ranks();
  Loaded loaded(made);
  auto rows = by_name(loaded);
  CHECK(rows["MPI_Recv"].at(0).inclusive_ns == 600);
  CHECK(rows["MPI_Sendrecv"].at(0).inclusive_ns == 100);
  CHECK(rows["MPI_Sendrecv"].at(0).exclusive_ns == 90);
  CHECK(rows["MPI_Send"].at(0).exclusive_ns == 10);
  CHECK(rows["MPI_Send"].at(0).bytes == 64);
  REQUIRE(rows["(program)"].size() == 2);
  CHECK(rows["(program)"][0].exclusive_ns == 1000 - 20 - 600);
  CHECK(rows["(program)"][1].exclusive_ns == 1000 - 20 - 100);
}

TEST_CASE("a flat profile can be limited to a window and a rank, and cuts calls at the edges") {
  MadeJob made = two_ranks();
  made.enter(0, 1001, "MPI_Recv");
  made.add(0, trace::EventKind::kProcessor, 1100);
  Loaded loaded(made);
  loaded.input.scope.from_ns = 400;
  loaded.input.scope.ranks = std::set<std::int64_t>{0};
  auto rows = by_name(loaded);
  REQUIRE(rows["MPI_Recv"].size() == 2);  // the cut one names no communicator
  CHECK(rows["MPI_Recv"][0].inclusive_ns + rows["MPI_Recv"][1].inclusive_ns == 300 + 99);
  CHECK(rows["MPI_Send"].empty());
  CHECK(rows["(program)"].at(0).exclusive_ns == 990 - 400 - 300);
}

// Rank 0: 100 outside, "work" 150..450 with a receive inside, then 50 in it until 500.
auto all_of(const CallRow& row) {
  return std::tie(row.process, row.function, row.communicator, row.gaps, row.count,
                  row.inclusive_ns, row.exclusive_ns, row.shortest_ns, row.longest_ns, row.bytes,
                  row.sampled_ns);
}

TEST_CASE("the calls of any window are the same whether or not the job has been joined") {
  MadeJob made = two_ranks();
  made.add(1, trace::EventKind::kPause, 1001).code = 1;  // far from most windows
  made.add(1, trace::EventKind::kResume, 1002);
  made.enter(0, 1010, "MPI_Recv");  // and never left
  made.enter(1, 1020, "MPI_Barrier");
  made.leave(1, 1030, "MPI_Barrier");
  for (const bool threads : {false, true}) {
    if (threads) {
      made.definitions.processes[1].threads = {"main", "other"};
      made.enter(1, 5, "MPI_Wait").thread = 1;
      made.leave(1, 1040, "MPI_Wait").thread = 1;
    }
    Loaded apart(made), joined(made);
    REQUIRE(joined.job.joined().ok());
    for (std::uint64_t from_ns = 0; from_ns < 1100; from_ns += 37) {
      for (std::uint64_t to_ns = from_ns + 1; to_ns < 1100; to_ns += 53) {
        CAPTURE(from_ns);
        CAPTURE(to_ns);
        for (Loaded* loaded : {&apart, &joined}) {
          loaded->input.scope.from_ns = from_ns;
          loaded->input.scope.to_ns = to_ns;
        }
        const auto expected = call_rows(apart.input), found = call_rows(joined.input);
        REQUIRE(found->size() == expected->size());
        for (std::size_t i = 0; i < found->size(); ++i)
          CHECK(all_of((*found)[i]) == all_of((*expected)[i]));
      }
    }
  }
}

TEST_CASE("a flat profile of a phase has the program's time in it to the nanosecond") {
  MadeJob made(2);
  made.definitions.phases = {"work"};
  made.enter(0, 0, "MPI_Init");
  made.leave(0, 10, "MPI_Init");
  made.add(0, trace::EventKind::kPhaseBegin, 150);
  made.receive(0, 200, 300, 1);
  made.add(0, trace::EventKind::kPhaseEnd, 450);
  made.enter(0, 500, "MPI_Finalize");
  made.leave(0, 510, "MPI_Finalize");
  made.send(1, 250, 260, 0);
  Loaded loaded(made);
  loaded.input.scope.phases = {"work"};
  auto rows = by_name(loaded);
  REQUIRE(rows["(program)"].size() == 1);
  CHECK(rows["(program)"][0].exclusive_ns == 50 + 150);
  CHECK(rows["(program)"][0].inclusive_ns == 300);
  CHECK(rows["MPI_Recv"].at(0).inclusive_ns == 100);
  CHECK(rows["MPI_Init"].empty());
}

const std::vector<double>& column(const Outcome& outcome, const std::string& name) {
  for (const NamedColumn& column : outcome.section.tables.at(0).columns) {
    if (column.name == name) return std::get<std::vector<double>>(column.values);
  }
  FAIL("no column " << name);
  static const std::vector<double> none;
  return none;
}

TEST_CASE("a time profile assigns every moment of each process to one row") {
  MadeJob made = two_ranks();
  Loaded loaded(made);
  const auto outcome = time_profile(loaded.input);
  REQUIRE(outcome.ok());
  double all = 0, receiving = 0;
  for (const NamedColumn& each : outcome->section.tables.at(0).columns) {
    if (each.name.starts_with("bin_")) continue;
    for (const double value : column(*outcome, each.name)) all += value;
  }
  for (const double value : column(*outcome, "MPI_Recv")) receiving += value;
  // From 10 to 990; the last bin includes its end.
  CHECK(all == doctest::Approx(2 * 981e-9).scale(0));
  CHECK(receiving == doctest::Approx(600e-9).scale(0));
  CHECK(column(*outcome, "MPI_Recv")[0] == 0);
  CHECK(column(*outcome, "MPI_Recv")[20] == doctest::Approx(20e-9).scale(0));  // from 400 to 420
}

TEST_CASE("messages over time add up to all messages of the trace") {
  MadeJob made = two_ranks();
  Loaded loaded(made);
  const auto outcome = comm_over_time(loaded.input);
  REQUIRE(outcome.ok());
  std::uint64_t sent = 0;
  for (const NamedColumn& each : outcome->section.tables.at(0).columns) {
    if (each.name != "sent_bytes") continue;
    const auto& values = std::get<std::vector<std::uint64_t>>(each.values);
    CHECK(values[641 / 20] == 64);
    for (const std::uint64_t value : values) sent += value;
  }
  CHECK(sent == 64);
}

TEST_CASE("bins end on whole nanoseconds, at the end of the job or at given edges") {
  MadeJob made = two_ranks();
  Loaded loaded(made);
  const trace::Definitions& definitions = loaded.trace.definitions();
  using Edges = std::vector<std::uint64_t>;
  const TraceSpan job = recorded_span(definitions);
  CHECK(TimeBins(job, {}, 4).edges() == Edges{0, 250, 500, 750, 1001});
  Scope window;
  window.from_ns = 100;
  window.to_ns = 700;
  CHECK(TimeBins(in_window(job, window), window, 3).edges() == Edges{100, 300, 500, 700});
  const TimeBins given({50, 400, 400, 900}, window);
  CHECK(given.edges() == Edges{100, 400, 400, 700});
  CHECK(given.bin_of(399) == 0);
  CHECK(given.bin_of(400) == 2);  // the one between holds nothing
  CHECK(!given.holds(700));
  std::vector<std::uint64_t> counts(3);
  given.add(0, 450, counts);
  CHECK(counts == Edges{300, 0, 50});
}

TEST_CASE("the time profile of a window ends where the window ends") {
  MadeJob made = two_ranks();
  Loaded loaded(made);
  loaded.input.scope.from_ns = 101;
  loaded.input.scope.to_ns = 200;  // 99 ns in 50 bins; rank 0 receives from 100 to 700
  const auto outcome = time_profile(loaded.input);
  REQUIRE(outcome.ok());
  CHECK(column(*outcome, "bin_end_s").back() == doctest::Approx(200e-9).scale(0));
  double receiving = 0;
  for (const double value : column(*outcome, "MPI_Recv")) receiving += value;
  CHECK(receiving == doctest::Approx(99e-9).scale(0));
}

TEST_CASE("call sites of a stripped program are told apart by their place in the file") {
  MadeJob made(2);
  for (trace::Process& process : made.definitions.processes)
    process.code = {{0x1000, 0x1000, 0x400, "", "/gone/app"}};
  for (const std::uint64_t at : {1000, 2000, 3000}) {  // two of the three calls are in one place
    trace::Event& receive = MadeJob::about(made.enter(1, at, "MPI_Recv"), 0, 0, 8);
    receive.site = at == 3000 ? 0x1100 : 0x1200;
    made.message(1, at + 800, false, 0, 0, 8);
    made.leave(1, at + 801, "MPI_Recv");
    made.send(0, at + 700, at + 710, 1);
  }
  Loaded loaded(made);
  const auto outcome = (*find_analysis("wait-states"))->run(loaded.input);
  REQUIRE(outcome.ok());
  std::vector<std::string> files = test::column<std::string>(*outcome, "waits", "file"), found;
  std::ranges::sort(files);
  CHECK(files == std::vector<std::string>{"app+0x4ff", "app+0x5ff"});
  for (const Finding& finding : outcome->findings)
    for (const Symptom& symptom : finding.symptoms)
      if (symptom.kind == "late-sender") found.push_back(symptom.where.file);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());  // of several causes
  CHECK(found == files);
}

TEST_CASE("chosen calls count whole, and time outside calls does not count") {
  MadeJob made = two_ranks();
  Loaded loaded(made);
  EventChoice choice(2);
  // Events of rank 1: MPI_Init, MPI_Sendrecv with MPI_Send and its message inside.
  choice.set(1, {false, false, true, false, true});
  CountedEvents events = counted_events(loaded.input);
  events.choice = &choice;
  const auto rows = count_calls(events);
  REQUIRE(rows.ok());
  REQUIRE(rows->size() == 1);
  CHECK(rows->at(0).process == 1);
  CHECK(rows->at(0).inclusive_ns == 100);
  CHECK(rows->at(0).exclusive_ns == 90);

  const TimeBins bins({600, 645, 700}, {});
  const auto times = time_by_bin(events, bins);
  REQUIRE(times.ok());
  CHECK(times->of(rows->at(0).function)[0] == 40);  // MPI_Send from 640 to 650 is its own
  CHECK(times->of(rows->at(0).function)[1] == 50);
  std::uint64_t all_ns = 0;
  for (const std::uint64_t ns : times->values()) all_ns += ns;
  CHECK(all_ns == 90);

  const auto messages = messages_by_bin(events, bins);
  REQUIRE(messages.ok());
  CHECK(messages->of(kSentBytes)[0] == 64);
  CHECK(messages->empty(kReceivedBytes));  // its receive was not chosen
  const profile::Profile sent = profile_of_trace(loaded.trace, {}, &choice);
  REQUIRE(sent.traffic.size() == 1);
  CHECK(sent.traffic[0].bytes == std::vector<std::uint64_t>{64});
  choice.set(1, {});
  CHECK(profile_of_trace(loaded.trace, {}, &choice).traffic.empty());
  CHECK(count_calls(events)->empty());
}

}  // namespace
}  // namespace fathom::analysis
