// SPDX-License-Identifier: BSD-3-Clause
// The causes of waits as findings: what is one cause, what it cost, and what is said about it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "analysis/engine/lazy_job.h"
#include "analysis/results/finding_kinds.h"
#include "analysis/waits/wait_findings.h"
#include "analysis/waits/wait_states.h"
#include "test/unit/analysis/evidence.h"
#include "test/unit/analysis/loaded_job.h"

namespace fathom::analysis {
namespace {

using test::evidence;
using test::figure;
using test::Loaded;
using test::MadeJob;
using Ranks = std::vector<std::int64_t>;

Outcome waits_of(MadeJob& made, const profile::Profile* profile = nullptr) {
  Loaded loaded(made);
  loaded.input.profile = profile;
  auto outcome = wait_states(loaded.input);
  REQUIRE(outcome.ok());
  return std::move(*outcome);
}

const Finding& only(const Outcome& outcome) {
  REQUIRE(outcome.findings.size() == 1);
  return outcome.findings.front();
}

std::int64_t ns(double seconds) { return std::llround(seconds * 1e9); }

void barrier(MadeJob& made, int ranks, std::uint64_t from_ns, std::uint64_t to_ns) {
  for (int rank = 0; rank < ranks; ++rank) made.collective(rank, from_ns, to_ns, "MPI_Barrier");
}

TEST_CASE("all pieces of work between the same two calls are one cause") {
  MadeJob made(3);
  barrier(made, 3, 0, 10);
  for (std::uint64_t i = 0; i < 5; ++i) made.isend(1, 110 + 102 * i, 7 + i, 2);
  made.send(1, 620, 622, 0);
  made.receive(0, 20, 625, 1);
  for (std::uint64_t i = 0; i < 5; ++i) made.receive(2, 1000 + 10 * i, 1005 + 10 * i, 1);
  const Outcome outcome = waits_of(made);
  const Finding& finding = only(outcome);
  REQUIRE(finding.meanwhile);
  CHECK(finding.meanwhile->rank == 1);
  CHECK(finding.meanwhile->pieces == 4);
  CHECK(ns(finding.meanwhile->seconds) == 400);
  CHECK(ns(finding.meanwhile->of_seconds) == 600);
  CHECK(amount_of(*finding.meanwhile) == "4 pieces of work, during 400 ns of the 600 ns");
  CHECK(place_of(*finding.meanwhile).starts_with("between two calls of MPI_Isend"));
}

TEST_CASE("without debug information, calls in different functions are not one place") {
  MadeJob made(2);
  barrier(made, 2, 0, 10);
  made.place = 0x2000;
  made.send(1, 500, 502, 0);
  made.receive(0, 20, 505, 1);
  made.place = 0x3000;
  made.send(0, 805, 807, 1);
  made.receive(1, 510, 810, 0);
  for (trace::Process& process : made.definitions.processes) {
    for (std::uint64_t function = 0; function < 8; ++function) {
      process.sites[0x2000 + function] = {"pressure", "", 0};
      process.sites[0x3000 + function] = {"velocity", "", 0};
    }
  }
  const Outcome outcome = waits_of(made);
  REQUIRE(outcome.findings.size() == 2);
  const Finding &first = outcome.findings[0], &second = outcome.findings[1];
  CHECK(ns(*first.seconds) == 480);
  CHECK(first.culprits == Ranks{1});
  CHECK(first.summary.find("MPI_Send (pressure)") != std::string::npos);
  CHECK(first.summary.ends_with("in MPI_Recv (pressure)"));
  CHECK(ns(*second.seconds) == 295);
  CHECK(second.culprits == Ranks{0});
  CHECK(second.summary.find("between MPI_Recv (pressure) and MPI_Send (velocity)") !=
        std::string::npos);
  CHECK(second.summary.ends_with("in MPI_Recv (velocity)"));
}

TEST_CASE("a cause whose culprits began after different calls is said to be mostly between two") {
  const auto place_of_cause = [](std::uint64_t other_work) {
    MadeJob made(3);
    barrier(made, 3, 0, 10);
    made.receive(2, 12, 115 + other_work, 0);  // for rank 0, whose work began after the barrier
    made.send(0, 100 + other_work, 102 + other_work, 2);
    const std::uint64_t at = 120 + other_work;
    made.send(0, at, at + 1, 1);
    made.receive(1, at + 1, at + 4, 0);
    made.receive(2, at + 5, at + 1015, 1);  // for rank 1, whose work began after its receive
    made.send(1, at + 1005, at + 1007, 2);
    const Outcome outcome = waits_of(made);
    REQUIRE(!outcome.findings.empty());
    REQUIRE(outcome.findings.front().meanwhile);
    return place_of(*outcome.findings.front().meanwhile);
  };
  CHECK(place_of_cause(500).starts_with("mostly between MPI_Recv"));
  CHECK(place_of_cause(0).starts_with("between MPI_Recv"));
}

TEST_CASE("work that several others wait for at once counts once") {
  MadeJob made(3);
  barrier(made, 3, 0, 10);
  made.send(1, 500, 501, 0);
  made.send(1, 502, 503, 2);
  made.receive(0, 20, 505, 1);
  made.receive(2, 20, 507, 1);
  const Outcome outcome = waits_of(made);
  const Finding& finding = only(outcome);
  CHECK(ns(*finding.seconds) == 480 + 482);
  CHECK(finding.meanwhile->pieces == 1);
  CHECK(ns(finding.meanwhile->seconds) == 480 + 480);
  CHECK(ns(finding.meanwhile->of_seconds) == 480 + 482);
  CHECK(finding.victims == Ranks{2, 0});
}

TEST_CASE("the window of a finding is the call that waited longest at the place that it names") {
  MadeJob made(3);
  barrier(made, 3, 0, 10);
  // Most is waited in MPI_Recv, in several parts; the longest single wait is elsewhere.
  std::uint64_t at = 10;
  for (const std::uint64_t work : {100, 140, 120, 130}) {
    made.send(1, at + work, at + work + 2, 0);
    made.receive(0, at, at + work + 9, 1);
    at += work + 10;
  }
  made.irecv(2, 20, 7, 1);
  made.send(1, at + 200, at + 202, 2);
  made.wait_receive(2, at, at + 205, 7, 1);
  const Outcome outcome = waits_of(made);
  const Finding& finding = only(outcome);
  CHECK(finding.where.function == "MPI_Recv");
  REQUIRE(finding.windows.size() == 1);
  CHECK(ns(finding.windows[0].from_s) == 10 + 110);
  CHECK(ns(finding.windows[0].to_s) == 10 + 110 + 149);  // until the call has ended
  CHECK(finding.victims == Ranks{0, 2});
}

// Rank r works units[r] in each of five rounds before all reduce.
MadeJob rounds(const std::vector<std::uint64_t>& units, bool in_turn = false) {
  MadeJob made(static_cast<int>(units.size()));
  std::uint64_t at = 10;
  barrier(made, static_cast<int>(units.size()), 0, at);
  for (std::size_t round = 0; round < 5; ++round) {
    const std::uint64_t end = at + *std::max_element(units.begin(), units.end()) + 2;
    for (std::size_t rank = 0; rank < units.size(); ++rank) {
      const std::uint64_t work = units[in_turn ? (rank + round) % units.size() : rank];
      made.collective(static_cast<int>(rank), at + work, end, "MPI_Allreduce");
    }
    at = end;
  }
  return made;
}

TEST_CASE("an uneven load is one finding, with the waits as its symptoms") {
  MadeJob made = rounds({1000, 1000, 1000, 3000});
  const Outcome outcome = waits_of(made);
  const Finding& finding = only(outcome);
  CHECK(finding.kind == "load-imbalance");
  CHECK(finding.culprits == Ranks{3});
  CHECK(ns(*finding.seconds) == 5 * 3 * 2000);
  CHECK(evidence(finding, "times_the_mean") == doctest::Approx(2));
  CHECK(finding.severity == Severity::kCritical);
  REQUIRE(finding.symptoms.size() == 1);
  CHECK(finding.symptoms[0].kind == "wait-at-nxn");
  CHECK(finding.symptoms[0].victims == Ranks{0, 1, 2});
  CHECK(finding.symptoms[0].text.starts_with("ranks 0, 1 and 2 wait 30 us in MPI_Allreduce"));
  CHECK(finding.summary.starts_with(
      "rank 3 computes 2 × the mean between two calls of MPI_Allreduce"));
  CHECK(finding.summary.find(": 30 us of others' waiting in MPI_Allreduce") != std::string::npos);
  CHECK(finding.advice.starts_with("give it a smaller part"));
}

TEST_CASE("work that no other rank does is told from an uneven load") {
  MadeJob made = rounds({0, 0, 2000, 0});
  const Outcome outcome = waits_of(made);
  CHECK(only(outcome).kind == "load-imbalance");
  CHECK(only(outcome).summary.starts_with("rank 2 alone computes between"));
  CHECK(only(outcome).advice.starts_with("let the other ranks do a part of this work"));
}

TEST_CASE("a load that is even in total and uneven in each round is a delay") {
  MadeJob made = rounds({1000, 1000, 1000, 1000, 3000}, true);
  const Outcome outcome = waits_of(made);
  const Finding& finding = only(outcome);
  CHECK(finding.kind == "delay");
  CHECK(finding.culprits.size() == 5);
  CHECK(ns(*finding.seconds) == 5 * 4 * 2000);
  CHECK(finding.advice.find("totals are even") != std::string::npos);
}

TEST_CASE("of a trace that lacks calls, nothing is said about who works more in total") {
  MadeJob made = rounds({1000, 1000, 1000, 3000});
  made.definitions.selection = {"functions MPI_Allreduce"};
  const Outcome outcome = waits_of(made);
  const Finding& finding = only(outcome);
  CHECK(finding.kind == "delay");
  CHECK(finding.summary.starts_with(
      "rank 3 comes late from work between two calls of MPI_Allreduce: 30 us of others' waiting"));
  CHECK(finding.advice.starts_with("find out why it takes so long there, or use the collective's"));
}

TEST_CASE("work that was going on for hardly any of the waiting is not named") {
  MadeJob made(3);
  made.definitions.selection = {"functions MPI_Send,MPI_Recv"};
  made.send(0, 1000, 1001, 1);
  made.send(0, 1010, 1011, 2);
  made.receive(1, 0, 1002, 0);
  made.receive(2, 0, 1012, 0);
  const Outcome outcome = waits_of(made);
  REQUIRE(!outcome.findings.empty());
  for (const Finding& finding : outcome.findings) {
    CAPTURE(finding.summary);
    CHECK(!finding.meanwhile);
    CHECK(finding.summary.starts_with("rank 0 comes late: "));
  }
}

TEST_CASE("a rank that others wait for while it is inside a call is no uneven load") {
  MadeJob made(3);
  barrier(made, 3, 0, 10);
  made.collective(1, 12, 900, "MPI_Win_fence");  // alone: nobody is known to be waited for
  barrier(made, 1, 20, 912);
  made.collective(1, 910, 912, "MPI_Barrier");
  made.collective(2, 20, 912, "MPI_Barrier");
  const Outcome outcome = waits_of(made);
  CHECK(only(outcome).kind == "slow-call");
  CHECK(ns(only(outcome).meanwhile->seconds) == 2 * 880);  // two wait
  CHECK(only(outcome).summary.find("in MPI_Win_fence") != std::string::npos);
}

// Rank 0 answers requests of three workers, 500 each; a worker works for `work_ns` between.
MadeJob master(std::uint64_t work_ns, std::uint64_t answer_ns) {
  constexpr int kWorkers = 3;
  MadeJob made(kWorkers + 1);
  barrier(made, kWorkers + 1, 0, 10);
  std::uint64_t ready[kWorkers + 1] = {10, 10, 10, 10}, now = 10;
  for (int round = 0; round < 4; ++round) {
    for (int worker = 1; worker <= kWorkers; ++worker) {
      const std::uint64_t asked = ready[worker] + work_ns, got = std::max(now, asked + 4) + 1;
      made.send(worker, asked, asked + 2, 0, 1);
      made.receive(0, now, got, worker, 1);
      made.send(0, got + answer_ns, got + answer_ns + 2, worker, 2);
      ready[worker] = got + answer_ns + 4;
      made.receive(worker, asked + 3, ready[worker], 0, 2);
      now = got + answer_ns + 3;
    }
  }
  return made;
}

profile::Profile star(std::int64_t ranks) {
  profile::Profile profile;
  profile.ranks.resize(static_cast<std::size_t>(ranks));
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    profile.ranks[static_cast<std::size_t>(rank)].rank = rank;
  profile::Traffic& traffic = profile.traffic.emplace_back();
  traffic.class_name = "point-to-point";
  for (std::int64_t rank = 1; rank < ranks; ++rank) {
    for (const bool out : {true, false}) {
      traffic.source.push_back(out ? 0 : rank);
      traffic.destination.push_back(out ? rank : 0);
      traffic.bytes.push_back(32);
      traffic.messages.push_back(4);
    }
  }
  return profile;
}

TEST_CASE("a master that answers everyone is not told to send earlier") {
  const profile::Profile profile = star(4);
  MadeJob made = master(10, 500);
  const Outcome outcome = waits_of(made, &profile);
  const Finding* worst = &outcome.findings.front();
  for (const Finding& finding : outcome.findings)
    if (*finding.seconds > *worst->seconds) worst = &finding;
  CHECK(worst->kind == "busy-master");
  CHECK(worst->culprits == Ranks{0});
  CHECK(worst->advice.find("send") == std::string::npos);
  CHECK(worst->advice.find("masters") != std::string::npos);
}

TEST_CASE("a master that waits for its workers is named as such") {
  const profile::Profile profile = star(4);
  MadeJob made = master(5000, 1);
  const Outcome outcome = waits_of(made, &profile);
  const Finding* worst = &outcome.findings.front();
  for (const Finding& finding : outcome.findings)
    if (*finding.seconds > *worst->seconds) worst = &finding;
  CHECK(worst->kind == "idle-master");
  CHECK(worst->victims.front() == 0);
  CHECK(worst->advice.find("send") == std::string::npos);
}

TEST_CASE("only one rank that exchanges messages with all others is a hub") {
  profile::Profile profile = star(5);
  CHECK(hub_of(profile, 4) == 0);
  CHECK(!hub_of(profile, 6));  // fewer ranks than that
  CHECK(!hub_of(star(2), 4));
  profile.traffic[0].source.push_back(2);
  profile.traffic[0].destination.push_back(3);
  profile.traffic[0].bytes.push_back(8);
  profile.traffic[0].messages.push_back(4);
  CHECK(!hub_of(profile, 4));  // a tenth of the messages passes it by
  profile = star(5);
  profile.traffic[0].messages.back() = 0;
  profile.traffic[0].source.pop_back();
  profile.traffic[0].destination.pop_back();
  CHECK(!hub_of(profile, 4));  // nothing comes from rank 4
}

// Work and messages among four ranks by chance, with a barrier now and then.
MadeJob by_chance(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  constexpr int kRanks = 4;
  MadeJob made(kRanks);
  std::uint64_t now[kRanks] = {0, 0, 0, 0};
  for (int step = 0; step < 60; ++step) {
    if (step % 15 == 0) {
      const std::uint64_t last = *std::max_element(now, now + kRanks) + 3;
      for (int rank = 0; rank < kRanks; ++rank) {
        made.collective(rank, now[rank], last, "MPI_Barrier");
        now[rank] = last + 1;
      }
    }
    const auto from = static_cast<int>(random() % kRanks),
               to = (from + 1 + static_cast<int>(random() % (kRanks - 1))) % kRanks;
    now[from] += 1 + random() % 500;
    now[to] += 1 + random() % 100;
    const std::uint64_t sent = now[from];
    made.send(from, sent, sent + 3, to, step);
    now[from] = sent + 4;
    const std::uint64_t arrived = std::max(now[to], sent) + 4;
    made.receive(to, now[to], arrived, from, step);
    now[to] = arrived + 1;
  }
  return made;
}

TEST_CASE("findings add up to the waits of all ranks, and symptoms to their finding") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    MadeJob made = by_chance(seed);
    Loaded loaded(made);
    loaded.input.thresholds.wait_share = 0;
    const auto outcome = wait_states(loaded.input);
    REQUIRE(outcome.ok());
    double sum = 0;
    for (const Finding& finding : outcome->findings) {
      sum += *finding.seconds;
      double of_symptoms = 0;
      for (const Symptom& symptom : finding.symptoms) of_symptoms += symptom.seconds;
      CHECK(of_symptoms == doctest::Approx(*finding.seconds).scale(0).epsilon(1e-9));
    }
    const double waited = figure(*outcome, "wait_seconds");
    CHECK(waited > 0);
    CHECK(ns(sum) <= ns(waited));
    CHECK(ns(sum) >= ns(waited) - 100);  // what is passed on is rounded down, here and there
    CHECK(ns(figure(*outcome, "seconds_in_findings")) == ns(sum));
    for (const Finding& finding : outcome->findings) {
      INFO(finding.summary);
      REQUIRE(finding.windows.size() == 1);
      Input part = loaded.input;
      part.causes = false;
      part.scope.from_ns = static_cast<std::uint64_t>(ns(finding.windows[0].from_s));
      part.scope.to_ns = static_cast<std::uint64_t>(ns(finding.windows[0].to_s));
      part.scope.ranks = {{finding.victims.begin(), finding.victims.end()}};
      const auto waits = wait_states(part);
      REQUIRE(waits.ok());
      const auto& functions = test::column<std::string>(*waits, "waits", "function");
      CHECK(std::count(functions.begin(), functions.end(), finding.where.function) > 0);
    }
    for (const Finding& finding : outcome->findings) {
      if (!finding.meanwhile) continue;
      CHECK(finding.meanwhile->seconds <= finding.meanwhile->of_seconds);
      CHECK(finding.meanwhile->pieces > 0);
    }
  }
}

// What a profile knows of rounds({1000, 1000, 1000, 3000}).
profile::Profile profile_of_rounds() {
  profile::Profile profile = star(4);
  profile.traffic.clear();
  profile.application.seconds = 15e-6;
  profile::CallTimes& calls = profile.calls.emplace_back();
  profile::CallWaits& waits = profile.waits.emplace_back();
  calls.function = waits.function = "MPI_Allreduce";
  waits.kind = "wait-at-nxn";
  profile.call_sites.emplace_back();
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    profile.ranks[static_cast<std::size_t>(rank)].seconds = 15e-6;
    calls.rank.push_back(rank);
    calls.calls.push_back(5);
    calls.total_ns.push_back(rank == 3 ? 1 : 10'000);
    if (rank == 3) continue;
    waits.rank.push_back(rank);
    waits.awaited.push_back(3);
    waits.waits.push_back(5);
    waits.total_ns.push_back(10'000);
    waits.longest_ns.push_back(2'000);
  }
  profile.coverage.waits.emplace();
  return profile;
}

TEST_CASE("a finding looks the same from a profile, less what only a trace knows") {
  const profile::Profile profile = profile_of_rounds();
  Input input;
  input.profile = &profile;
  const auto outcome = wait_states(input);
  REQUIRE(outcome.ok());
  const Finding& without = only(*outcome);
  MadeJob made = rounds({1000, 1000, 1000, 3000});
  const Outcome traced = waits_of(made);
  const Finding& with = only(traced);
  CHECK(without.kind == with.kind);
  CHECK(without.culprits == with.culprits);
  CHECK(without.victims == with.victims);
  CHECK(ns(*without.seconds) == ns(*with.seconds));
  CHECK(without.severity == with.severity);
  CHECK(evidence(without, "times_the_mean") == doctest::Approx(2).epsilon(0.001));
  REQUIRE(without.symptoms.size() == with.symptoms.size());
  CHECK(without.symptoms[0].kind == with.symptoms[0].kind);
  CHECK(without.symptoms[0].count == with.symptoms[0].count);
  CHECK(without.summary ==
        "rank 3 computes 2 × the mean: 30 us of others' waiting in MPI_Allreduce");
  CHECK(without.symptoms[0].text ==
        "ranks 0, 1 and 2 wait 30 us in MPI_Allreduce for the last rank to arrive");
  CHECK(without.advice == with.advice);
  CHECK(!without.meanwhile);
}

TEST_CASE("each kind of finding has a name of its own") {
  for (const FindingKindRow& row : kFindingKinds) {
    CHECK(name_of(row.kind) == std::string(row.name));
    CHECK(std::count_if(std::begin(kFindingKinds), std::end(kFindingKinds), [&](const auto& other) {
            return std::string(other.name) == row.name;
          }) == 1);
  }
}

}  // namespace
}  // namespace fathom::analysis
