// SPDX-License-Identifier: BSD-3-Clause
// Loops in sequences of calls, and phases of jobs, written by hand with known numbers.
#include <doctest/doctest.h>

#include <string>

#include "analysis/phases/call_loops.h"
#include "analysis/phases/phases.h"
#include "test/unit/analysis/loaded_job.h"

namespace fathom::analysis {
namespace {

using test::column;
using test::figure;
using test::Loaded;
using test::MadeJob;
using test::nanoseconds;
using Numbers = std::vector<std::int64_t>;
using Counts = std::vector<std::uint64_t>;

// Letters are calls, 10 apart and 4 long.
void take_calls(const std::string& calls, CallLoops& loops) {
  std::uint64_t time_ns = 0;
  for (const char letter : calls) {
    loops.call(static_cast<std::uint64_t>(letter), static_cast<std::uint32_t>(letter), 0, time_ns,
               time_ns + 4);
    time_ns += 10;
  }
}

std::vector<CallItem> loops_of(const std::string& calls) {
  CallLoops loops;
  take_calls(calls, loops);
  if (loops.has_branches()) {
    loops = loops.again();
    take_calls(calls, loops);
  }
  return loops.finish();
}

std::string text(const std::vector<CallItem>& items) {
  std::string all;
  for (const CallItem& item : items) {
    if (!item.is_loop()) {
      all += static_cast<char>(item.function);
      continue;
    }
    all += std::to_string(item.iterations.fewest);
    if (item.iterations.most != item.iterations.fewest)
      all += "-" + std::to_string(item.iterations.most);
    all += "(" + text(item.body);
    for (const CallBranch& branch : item.branches)
      all += ";" + std::to_string(branch.iterations) + " " + text(branch.items);
    all += ")";
  }
  return all;
}

std::string times(int count, const std::string& what) {
  std::string all;
  for (int i = 0; i < count; ++i) all += what;
  return all;
}

TEST_CASE("loops of calls are found alone, in sequence, nested and with varying lengths") {
  CHECK(text(loops_of("abc")) == "abc");
  CHECK(text(loops_of("i" + times(50, "abcd") + "f")) == "i50(abcd)f");
  CHECK(text(loops_of(times(20, "ab") + times(30, "acd"))) == "20(ab)30(acd)");
  CHECK(text(loops_of(times(7, "a"))) == "7(a)");
  CHECK(text(loops_of("x" + times(9, "p" + times(5, "qr") + "s"))) == "x9(p5(qr)s)");
  CHECK(text(loops_of(times(3, "p" + times(2, "q") + "s" + "p" + times(4, "q") + "s"))) ==
        "6(p2-4(q)s)");
  CHECK(text(loops_of("pqqqs"
                      "pqs"
                      "pqqs")) == "3(p1-3(q)s)");
  CHECK(text(loops_of(times(4, times(10, "ab") + "c"))) == "4(10(ab)c)");
  CHECK(text(loops_of(times(12, "aab"))) == "12(2(a)b)");
  // The inner loop comes last, and is longer than before.
  CHECK(text(loops_of("a"
                      "bb"
                      "a"
                      "bbb"
                      "a"
                      "bbbb"
                      "a"
                      "bb")) == "4(a2-4(b))");
  CHECK(text(loops_of("a"
                      "bcbc"
                      "a"
                      "bcbcbc"
                      "a"
                      "bcbcbcbc"
                      "x")) == "3(a2-4(bc))x");
  CHECK(text(loops_of(times(5,
                            "a"
                            "bcc"
                            "bccc") +
                      times(3, "d"))) == "5(a2(b2-3(c)))3(d)");
}

TEST_CASE("two iterations of an outer loop do not hide the loops in it") {
  CHECK(text(loops_of(times(2, times(5, "abc") + times(4, "de")))) == "5(abc)4(de)5(abc)4(de)");
  CHECK(text(loops_of(times(3, times(5, "abc") + times(4, "de")))) == "3(5(abc)4(de))");
  CHECK(text(loops_of("x" + times(2, "p" + times(2, times(3, "q") + "r")))) ==
        "xp3(q)r3(q)rp3(q)r3(q)r");
  CHECK(text(loops_of("x" + times(2, "abc"))) == "x2(abc)");
}

// `steps` iterations of "ab", of which each `every`-th is "xyb"; and a "t" after each `pause`-th.
std::string branched(int steps, int every, int pause) {
  std::string calls;
  for (int step = 1; step <= steps; ++step) {
    calls += step % every == 0 ? "xyb" : "ab";
    if (step % pause == 0) calls += "t";
  }
  return calls;
}

std::uint64_t iterations_in(const std::vector<CallItem>& items) {
  std::uint64_t sum = 0;
  for (const CallItem& item : items)
    sum += item.is_loop() && item.body.size() > 1 && item.body[0].function == 'a'
               ? item.iterations.count
               : iterations_in(item.body);
  return sum;
}

TEST_CASE("iterations that take another branch are iterations of the same loop") {
  CHECK(text(loops_of("s" + branched(40, 10, 100) + "e")) == "s40(ab;4 xyb)e");
  CHECK(text(loops_of(branched(250, 20, 50))) == "5(50(ab;12 xyb)t)");
  for (const int every : {6, 7, 20}) {
    for (const int pause : {5, 10, 50}) {
      CAPTURE(every);
      CAPTURE(pause);
      CHECK(iterations_in(loops_of("rxybs" + branched(600, every, pause))) == 600);
    }
  }
  // With the branch at the end of the body, and with inner loops.
  CHECK(text(loops_of("s" + times(6, times(4, "ab") + "ac") + "e")) == "s30(ab;6 ac)e");
  CHECK(text(loops_of("s" + times(6, times(4, "abb") + "xbbb") + "e")) == "s30(a2(b);6 x3(b))e");
}

TEST_CASE("a loop whose first iteration takes a branch has all its iterations") {
  CHECK(text(loops_of("s" + times(6, "xyb" + times(4, "ab")) + "e")) == "s30(ab;6 xyb)e");
  CHECK(text(loops_of("s" + times(6, "ac" + times(4, "ab")) + "e")) == "s30(ab;6 ac)e");
  CHECK(text(loops_of("s" + times(3, times(2, "xyb" + times(3, "ab")) + "t") + "e")) ==
        "s3(8(ab;6 xyb)t)e");
}

TEST_CASE("calls that are not in the loop, or many, belong to a loop around it") {
  CHECK(text(loops_of(times(4, times(9, "ab") + "c"))) == "4(9(ab)c)");
  CHECK(text(loops_of(times(4, times(9, "ab") + "cdefgb"))) == "4(9(ab)cdefgb)");
}

TEST_CASE("an iteration lasts to the next one's first call, and the last one to its last leave") {
  const auto items = loops_of("x" + times(5, "abc"));
  REQUIRE(items.size() == 2);
  const CallItem& loop = items[1];
  CHECK(loop.begin_ns == 10);
  CHECK(loop.end_ns == 154);
  CHECK(loop.calls == 15);
  CHECK(loop.iterations.count == 5);
  CHECK(loop.iterations.sum_ns == 4 * 30 + 24);
  CHECK(loop.iterations.longest_ns == 30);
  CHECK(loop.iterations.shortest_ns == 24);
}

// A billion nanoseconds, give or take one: squares of these have no room for the difference.
TEST_CASE("the deviation of iterations is not lost in their length") {
  Iterations all, odd, even;
  for (std::uint64_t number = 0; number < 1000; ++number) {
    const std::uint64_t ns = 1'000'000'000 + (number % 2 == 0 ? 1 : 3);
    all.ended(7, 7 + ns);
    (number % 3 == 0 ? odd : even).ended(7, 7 + ns);
  }
  CHECK(all.deviation_ns() == doctest::Approx(1).epsilon(1e-9));
  CHECK(all.mean_ns == 1'000'000'002);
  odd.merge(even);
  CHECK(odd.timed == 1000);
  CHECK(odd.deviation_ns() == doctest::Approx(1).epsilon(1e-6));
  Iterations none;
  none.merge(Iterations());
  CHECK(none.deviation_ns() == 0);
}

TEST_CASE("a sequence that never repeats is counted in bounded memory") {
  CallLoops loops;
  const std::uint64_t calls = 3 * CallLoops::kMostItems;
  for (std::uint64_t i = 0; i < calls; ++i) loops.call(i, 0, 0, i, i + 1);
  const auto items = loops.finish();
  CHECK(items.size() <= CallLoops::kMostItems);
  CHECK(items.size() + loops.dropped_calls() == calls);
}

void exchange(MadeJob& made, int rank, std::uint64_t at_ns, int ranks, std::uint64_t bytes) {
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  const auto request = static_cast<std::uint64_t>(rank) + 1;
  made.irecv(rank, at_ns, request, from, 0, bytes);
  made.send(rank, at_ns + 10, at_ns + 14, to, 0, bytes);
  made.wait_receive(rank, at_ns + 20, at_ns + 32, request, from, 0, bytes);
}

// 12 iterations of a ring of 100 bytes and a reduction, then 20 of a ring of 7 bytes.
MadeJob two_phases() {
  MadeJob made(4);
  for (int rank = 0; rank < 4; ++rank) {
    made.enter(rank, 0, "MPI_Init");
    made.leave(rank, 5, "MPI_Init");
    for (std::uint64_t i = 0; i < 12; ++i) {
      exchange(made, rank, 100 + 100 * i, 4, 100);
      made.collective(rank, 150 + 100 * i, 160 + 100 * i, "MPI_Allreduce");
    }
    for (std::uint64_t i = 0; i < 20; ++i) exchange(made, rank, 2000 + 50 * i, 4, 7);
    made.collective(rank, 3100, 3110, "MPI_Barrier");
    made.enter(rank, 3200, "MPI_Finalize");
    made.leave(rank, 3210, "MPI_Finalize");
  }
  return made;
}

TEST_CASE("consecutive phases have their own iterations, calls and matrices") {
  MadeJob made = two_phases();
  Loaded loaded(made);
  const auto outcome = phases(loaded.input);
  REQUIRE(outcome.ok());
  CHECK(figure(*outcome, "phases") == 2);
  CHECK(column<std::uint64_t>(*outcome, "phases", "iterations") == Counts{12, 20});
  CHECK(column<std::uint64_t>(*outcome, "phases", "fewest_iterations") == Counts{12, 20});
  CHECK(column<double>(*outcome, "phases", "calls_per_iteration") == std::vector<double>{4, 3});
  CHECK(nanoseconds(*outcome, "phases", "from_s") == std::vector<std::int64_t>{100, 2000});
  CHECK(nanoseconds(*outcome, "phases", "longest_iteration_seconds") ==
        std::vector<std::int64_t>{100, 50});
  CHECK(column<std::string>(*outcome, "phases", "body")[0] ==
        "MPI_Irecv, MPI_Send, MPI_Wait, MPI_Allreduce");
  CHECK(column<Numbers>(*outcome, "phases", "ranks")[0] == Numbers{0, 1, 2, 3});
  const auto& phase = column<std::int64_t>(*outcome, "matrices", "phase");
  const auto& bytes = column<std::uint64_t>(*outcome, "matrices", "bytes");
  REQUIRE(phase == Numbers{1, 1, 1, 1, 2, 2, 2, 2});
  for (std::size_t i = 0; i < phase.size(); ++i)
    CHECK(bytes[i] == (phase[i] == 1 ? 12 * 100 : 20 * 7));
  CHECK(column<std::string>(*outcome, "patterns", "kind") ==
        std::vector<std::string>{"ring", "ring"});
}

TEST_CASE("short phases of a long run are phases, unless there are many longer ones") {
  MadeJob made = two_phases();  // of 1,200 and 1,000 ns
  for (int rank = 0; rank < 4; ++rank)
    made.collective(rank, 1'000'000'000, 1'000'000'010, "MPI_Barrier");
  Loaded loaded(made);
  const auto iterations = [&](double kept) {
    loaded.input.thresholds.phases_kept = kept;
    const auto outcome = phases(loaded.input);
    REQUIRE(outcome.ok());
    return figure(*outcome, "phases") == 0
               ? Counts{}
               : column<std::uint64_t>(*outcome, "phases", "iterations");
  };
  CHECK(iterations(Thresholds{}.phases_kept) == Counts{12, 20});
  CHECK(iterations(1) == Counts{12});
  CHECK(iterations(0) == Counts{});
}

TEST_CASE("named phases show how often and how long they ran and what was received in them") {
  MadeJob made(2);
  made.definitions.phases = {"a", "b"};
  for (std::uint64_t i = 0; i < 3; ++i) {
    made.add(0, trace::EventKind::kPhaseBegin, 100 + 100 * i).code = 1;
    made.receive(0, 110 + 100 * i, 140 + 100 * i, 1, 0, 8);
    made.add(0, trace::EventKind::kPhaseEnd, 150 + 100 * i).code = 1;
    made.send(1, 105 + 100 * i, 112 + 100 * i, 0, 0, 8);
  }
  Loaded loaded(made);
  const auto outcome = phases(loaded.input);
  REQUIRE(outcome.ok());
  CHECK(column<std::string>(*outcome, "named_phases", "name") == std::vector<std::string>{"b"});
  CHECK(column<std::uint64_t>(*outcome, "named_phases", "visits") == Counts{3});
  CHECK(column<double>(*outcome, "named_phases", "seconds").at(0) ==
        doctest::Approx(150e-9).scale(0));
  CHECK(column<std::uint64_t>(*outcome, "named_phases", "messages") == Counts{3});
  CHECK(column<std::uint64_t>(*outcome, "named_phases", "bytes") == Counts{24});
}

TEST_CASE("groups of ranks are one phase if more than half of their time overlaps") {
  const auto part = [](std::uint32_t process, std::uint64_t begin_ns, std::uint64_t end_ns) {
    PhasePart made;
    made.process = process;
    made.begin_ns = begin_ns;
    made.end_ns = end_ns;
    made.iterations.count = 10;
    return made;
  };
  // Ranks start later and later: a pipeline.
  const auto found = phases_of({part(0, 0, 100), part(0, 100, 300), part(1, 40, 140),
                                part(1, 140, 340), part(2, 80, 180), part(2, 180, 380)});
  REQUIRE(found.size() == 2);
  CHECK(found[0].parts.size() == 3);
  CHECK(found[0].end_ns == 180);
  CHECK(found[1].begin_ns == 100);
}

// Rank 0 repeats two calls `times` times, the others make them once each; then all reduce.
std::vector<std::uint64_t> found_iterations(const char* own) {
  MadeJob made(3);
  for (int rank = 0; rank < 3; ++rank) {
    std::uint64_t at_ns = 100;
    const auto call = [&](const char* function) {
      made.enter(rank, at_ns, function);
      made.leave(rank, at_ns + 5, function);
      at_ns += 10;
    };
    for (int i = 0; i < (rank == 0 ? 5 : 1); ++i) {
      call(rank == 0 ? own : "MPI_Cancel");
      call("MPI_Request_free");
    }
    call("MPI_Cancel");
    for (std::uint64_t i = 0; i < 12; ++i)
      made.collective(rank, 300 + 20 * i, 310 + 20 * i, "MPI_Allreduce");
  }
  Loaded loaded(made);
  const auto outcome = phases(loaded.input);
  REQUIRE(outcome.ok());
  return column<std::uint64_t>(*outcome, "phases", "iterations");
}

TEST_CASE("what one rank repeats is a phase only if no other rank makes these calls") {
  CHECK(found_iterations("MPI_Cancel") == Counts{12});
  CHECK(found_iterations("MPI_Start") == Counts{5, 12});
}

TEST_CASE("a loop that most ranks have at different times is no chance") {
  const auto part = [](std::uint32_t process) {
    PhasePart made;
    made.process = process;
    made.hash = 7;
    return made;
  };
  const FoundPhase phase{{part(0)}, 0, 1};
  CHECK(is_more_than_chance(phase, {part(0), part(1)}, false, 4));
  CHECK(!is_more_than_chance(phase, {part(0), part(1)}, false, 5));
  CHECK(!is_more_than_chance(phase, {part(0), part(0)}, false, 2));
  CHECK(is_more_than_chance(phase, {part(0)}, true, 5));
  CHECK(is_more_than_chance(phase, {part(0)}, false, 1));
}

TEST_CASE("loops of a phase are listed with what they are in and how often they ran") {
  MadeJob made(2);
  for (int rank = 0; rank < 2; ++rank) {
    std::uint64_t at_ns = 100;
    const auto collective = [&](const char* function) {
      made.collective(rank, at_ns, at_ns + 5, function);
      at_ns += 10;
    };
    for (int i = 0; i < 6; ++i) {
      collective("MPI_Barrier");
      for (int inner = 0; inner < 3 + i % 2; ++inner) {
        collective("MPI_Scan");
        collective("MPI_Allreduce");
      }
    }
  }
  Loaded loaded(made);
  const auto outcome = phases(loaded.input);
  REQUIRE(outcome.ok());
  CHECK(column<std::int64_t>(*outcome, "loops", "loop") == Numbers{1, 2});
  CHECK(column<std::int64_t>(*outcome, "loops", "inside") == Numbers{0, 1});
  CHECK(column<std::uint64_t>(*outcome, "loops", "iterations") == Counts{6, 21});
  CHECK(column<std::uint64_t>(*outcome, "loops", "entered") == Counts{1, 6});
  CHECK(column<std::uint64_t>(*outcome, "loops", "fewest_iterations") == Counts{6, 3});
  CHECK(column<std::uint64_t>(*outcome, "loops", "most_iterations") == Counts{6, 4});
  CHECK(column<std::string>(*outcome, "loops", "body") ==
        std::vector<std::string>{"MPI_Barrier, 3–4 × (MPI_Scan, MPI_Allreduce)",
                                 "MPI_Scan, MPI_Allreduce"});
}

}  // namespace
}  // namespace fathom::analysis
