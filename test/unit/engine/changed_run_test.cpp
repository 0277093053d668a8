// SPDX-License-Identifier: BSD-3-Clause
// The run time that would have been: random jobs against a simulation of the changed job, and small
// ones whose answer is plain.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "analysis/path/changed_run.h"
#include "test/unit/engine/job_graph.h"
#include "test/unit/engine/joined_job.h"

namespace fathom::analysis {
namespace {

using test::Does, test::Graph, test::MadeJob;

std::vector<SupposedChange> changes_of(const std::vector<std::string>& texts) {
  std::vector<SupposedChange> changes;
  for (const std::string& text : texts) {
    auto change = parse_supposed_change(text);
    REQUIRE(change.ok());
    changes.push_back(std::move(*change));
  }
  return changes;
}

ChangedRun run_with(MadeJob& made, const std::vector<std::string>& changes,
                    const Scope& scope = {}) {
  auto run = changed_run(*test::Joined(made), changes_of(changes), scope);
  REQUIRE(run.ok());
  CHECK(run->released == 0);
  return std::move(*run);
}

// By rank: when it would have ended.
std::vector<std::uint64_t> ends_with(MadeJob& made, const std::vector<std::string>& changes,
                                     const Scope& scope = {}) {
  std::vector<std::uint64_t> ends;
  for (const ChangedTime& time : run_with(made, changes, scope).processes)
    ends.push_back(time.changed_end_ns);
  return ends;
}

using Ends = std::vector<std::uint64_t>;

TEST_CASE("a random job in which some ranks work longer or shorter ends when a simulation ends") {
  int changed = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const Graph graph = test::drawn(seed, 1 + static_cast<int>(seed % 4));
    Graph other = graph;
    const std::size_t rank = seed % graph.ranks.size(), next = (rank + 1) % graph.ranks.size();
    const std::uint64_t factor = std::array<std::uint64_t, 3>{0, 2, 3}[seed % 3];
    for (test::Act& act : other.ranks[rank]) act.ns *= factor;
    for (test::Act& act : other.ranks[next]) act.ns *= 2;
    const auto ends_of = [](const Graph& job) {
      const test::Times times = simulated(job, std::vector<bool>(job.delayed.size()));
      Ends ends(job.ranks.size());
      for (std::size_t i = 0; i < ends.size(); ++i) {
        for (std::size_t act = 0; act < job.ranks[i].size(); ++act) {
          if (job.ranks[i][act].does != Does::kWork) ends[i] = times.end[i][act];
        }
      }
      return ends;
    };
    MadeJob made = made_from(graph);
    CHECK(ends_with(made, {}) == ends_of(graph));
    CHECK(ends_with(made, {"rank 0 : 1", "latency : 1"}) == ends_of(graph));
    CHECK(ends_with(made, {"rank " + std::to_string(rank) + " : " + std::to_string(factor),
                           "rank " + std::to_string(next) + " : 2"}) == ends_of(other));
    changed += ends_of(graph) != ends_of(other);
  }
  CHECK(changed > 150);
}

// Rank 0 works for 600 ns and sends; rank 1 receives from 100 on, works for 300, and is done at 1005.
MadeJob two_ranks() {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) {
    made.enter(rank, 0, "MPI_Init");
    made.leave(rank, 0, "MPI_Init");
  }
  made.send(0, 600, 610, 1);
  made.receive(1, 100, 700, 0);  // the message arrives at 699
  made.collective(1, 1000, 1005, "MPI_Reduce_local");
  return made;
}

TEST_CASE("work, calls and messages are changed, each by itself and together") {
  MadeJob made = two_ranks();
  CHECK(ends_with(made, {}) == Ends{610, 1005});
  CHECK(ends_with(made, {"rank 0 : 0.5"}) == Ends{310, 705});
  CHECK(ends_with(made, {"rank 0 : 0"}) == Ends{10, 505});
  CHECK(ends_with(made, {"rank 1 : 2"}) == Ends{610, 1305});
  CHECK(ends_with(made, {"rank 0,1 : 2"}) == Ends{1210, 1200 + 99 + 1 + 600 + 5});
  CHECK(ends_with(made, {"rank 0 : 2", "rank 0 : 0.5"}) == Ends{610, 1005});
  CHECK(ends_with(made, {"latency : 2"}) == Ends{610, 1104});
  CHECK(ends_with(made, {"rank 1 latency : 0"}) == Ends{610, 906});
  CHECK(ends_with(made, {"function MPI_Send : 3"}) == Ends{630, 1005});
  CHECK(ends_with(made, {"function MPI_Reduce_local : 3"}) == Ends{610, 1015});
  CHECK(ends_with(made, {"before function MPI_Reduce_local : 0"}) == Ends{610, 705});
  CHECK(ends_with(made, {"rank 1 before function MPI_Reduce_local : 0", "latency : 0"}) ==
        Ends{610, 606});
}

Scope window(std::uint64_t from_ns, std::uint64_t to_ns) {
  Scope scope;
  scope.from_ns = from_ns;
  scope.to_ns = to_ns;
  return scope;
}

TEST_CASE("in a window, only the time inside it is changed") {
  MadeJob made = two_ranks();
  CHECK(ends_with(made, {"rank 0 : 0"}, window(0, 300)) == Ends{310, 705});
  CHECK(ends_with(made, {"rank 0 : 0"}, window(500, 800)) == Ends{510, 905});
  CHECK(ends_with(made, {"rank 0-1 : 2"}, window(0, 5000)) == ends_with(made, {"rank 0-1 : 2"}));
  // 10 of the 99 ns that the message takes, and 5 of the 10 ns of MPI_Send.
  CHECK(ends_with(made, {"latency : 11"}, window(650, 660)) == Ends{610, 1105});
  CHECK(ends_with(made, {"function MPI_Send : 3"}, window(600, 605)) == Ends{620, 1005});
  const auto nothing =
      changed_run(*test::Joined(made), changes_of({"rank 0 : 0"}), window(800, 900));
  REQUIRE(!nothing.ok());
  CHECK(nothing.error().message.find("nothing in the chosen part") != std::string::npos);
}

TEST_CASE("the time of each rank in a window is given, in the run and with the changes") {
  MadeJob made = two_ranks();
  const ChangedRun run = run_with(made, {"rank 0 : 0"}, window(0, 300));
  CHECK(run.processes[0].part_ns == 300);
  CHECK(run.processes[0].changed_part_ns == 0);
  // It works for 100, then waits: 200 of 599 ns are in the window, and 299 ns of waiting are left.
  CHECK(run.processes[1].part_ns == 300);
  CHECK(run.processes[1].changed_part_ns == 200);
}

TEST_CASE("of chosen ranks, only their own time is changed") {
  MadeJob made = two_ranks();
  Scope scope;
  scope.ranks = {1};
  CHECK(ends_with(made, {"latency : 0"}, scope) == Ends{610, 906});
  CHECK(ends_with(made, {"rank 0,1 : 2"}, scope) == Ends{610, 1305});
  CHECK(!changed_run(*test::Joined(made), changes_of({"rank 0 : 2"}), scope).ok());
}

TEST_CASE("in a phase, the work of all its openings is changed, also of a part between two calls") {
  MadeJob made(2);
  made.definitions.phases = {"solve", "inner"};
  const auto mark = [&](trace::EventKind kind, std::uint64_t time_ns, std::uint32_t phase) {
    made.add(0, kind, time_ns).code = phase;
  };
  mark(trace::EventKind::kPhaseBegin, 100, 0);
  mark(trace::EventKind::kPhaseBegin, 200, 1);
  mark(trace::EventKind::kPhaseEnd, 250, 1);
  mark(trace::EventKind::kPhaseEnd, 400, 0);
  made.send(0, 600, 610, 1);
  mark(trace::EventKind::kPhaseBegin, 620, 0);
  made.collective(0, 720, 730, "MPI_Reduce_local");
  mark(trace::EventKind::kPhaseEnd, 740, 0);
  made.receive(1, 100, 700, 0);
  Scope scope;
  scope.phases = {"solve"};
  // 250 ns before the message, and 100 after it.
  CHECK(ends_with(made, {"rank 0 before function MPI_Send : 0"}, scope)[1] == 450);
  const ChangedRun run = run_with(made, {"rank 0 : 0"}, scope);
  CHECK(run.processes[0].part_ns == 370);
  CHECK(run.processes[0].changed_part_ns == 10);
  CHECK(run.processes[1].part_ns == 0);
  scope.phases = {"inner"};
  CHECK(ends_with(made, {"rank 0 : 0"}, scope)[1] == 650);
  scope.phases = {"solve", "inner"};
  CHECK(ends_with(made, {"rank 0 : 0"}, scope)[1] == 400);
}

TEST_CASE("a large send waits for a receive that would have been posted later") {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) {
    made.enter(rank, 0, "MPI_Init");
    made.leave(rank, 0, "MPI_Init");
  }
  made.send(0, 100, 650, 1, 0, 1 << 20);
  made.receive(1, 600, 660, 0, 0, 1 << 20);
  CHECK(ends_with(made, {}) == Ends{650, 660});
  CHECK(ends_with(made, {"rank 1 : 2"}) == Ends{1250, 1260});
  CHECK(ends_with(made, {"rank 0 : 8"}) == Ends{850, 860});
}

TEST_CASE("a window that would have been exposed earlier saves all that waited for it") {
  MadeJob made(3);
  for (int rank = 0; rank < 3; ++rank) made.on_window(rank, 10, 20, "MPI_Win_create", 0xa);
  made.in_epoch(0, 100, 110, "MPI_Win_start", {1, 2});
  made.in_epoch(0, 120, 1130, "MPI_Win_complete");
  made.in_epoch(1, 1100, 1110, "MPI_Win_post", {0});
  made.in_epoch(1, 1120, 1140, "MPI_Win_wait");
  made.in_epoch(2, 100, 110, "MPI_Win_post", {0});
  made.in_epoch(2, 200, 1150, "MPI_Win_wait");
  CHECK(ends_with(made, {}) == Ends{1130, 1140, 1150});
  CHECK(ends_with(made, {"rank 1 before function MPI_Win_post : 0"}) == Ends{150, 140, 250});
}

TEST_CASE("a change that concerns nothing in the run is an error") {
  MadeJob made = two_ranks();
  for (const char* text : {"rank 2 : 0.5", "function MPI_Bcast : 0.5", "site halo.c:41 : 0.5"}) {
    CAPTURE(text);
    const auto run = changed_run(*test::Joined(made), changes_of({text}));
    REQUIRE(!run.ok());
    CHECK(run.error().message.find(text) != std::string::npos);
  }
}

TEST_CASE("a change is read as it is written, or refused with a reason") {
  const auto site = changes_of({"rank 0,3 before site src/halo.c:41 : 0.25"})[0];
  CHECK(site.of == SupposedChange::Of::kWork);
  CHECK(site.ranks == std::set<std::int64_t>{0, 3});
  CHECK(site.file == "src/halo.c");
  CHECK(site.line == 41);
  CHECK(site.factor == 0.25);
  const auto stripped = changes_of({"site app+0x12:2"})[0];
  CHECK(stripped.file == "app+0x12");
  CHECK(stripped.of == SupposedChange::Of::kCalls);
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"rank 3", "FACTOR"},
      {"rank 3 : fast", "factor"},
      {"rank 3 : -1", "factor"},
      {": 0.5", "what to change"},
      {"rank : 0.5", "needs a value"},
      {"speed 3 : 0.5", "no 'speed'"},
      {"before rank 3 : 0.5", "'before' needs"},
      {"latency site a.c:3 : 1", "messages"},
  };
  for (const auto& each : refused) {
    CAPTURE(each.first);
    const auto change = parse_supposed_change(each.first);
    REQUIRE(!change.ok());
    CHECK(change.error().message.find(each.second) != std::string::npos);
  }
}

}  // namespace
}  // namespace fathom::analysis
