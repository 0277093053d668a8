// SPDX-License-Identifier: BSD-3-Clause
// Who caused waits in the first place, held against what would have been saved: jobs are drawn at
// random, simulated with and without each delay by a few lines that know nothing of the analysis,
// and what a process is blamed for is compared with the waiting that its delays made.
//
// In these jobs calls take no time and all processes work equally long between two rounds of
// communication, except where one is delayed. Then, if no delay hides another - each wait is the sum
// of what each delay alone would have made it, and removing one delay takes away just its part - the
// blame must be exactly the waiting that is saved, nanosecond by nanosecond. Where delays hide each
// other, removing one brings another to light, and no division of the waits can equal what is saved.
// There, all waits must be divided completely, and processes without a delay get next to nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/waits/wait_steps.h"
#include "test/unit/engine/job_graph.h"
#include "test/unit/engine/joined_job.h"

namespace fathom::analysis {
namespace {

using test::Does, test::Draw, test::Graph, test::MadeJob, test::Operation, test::Times;
using test::drawn, test::kWork, test::made_from, test::simulated;

// Nanoseconds by rank and act.
using Waits = std::vector<std::vector<std::int64_t>>;
Waits waits_in(const Graph& graph, const std::vector<bool>& without) {
  const Times times = simulated(graph, without);
  Waits waits(graph.ranks.size());
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    for (std::size_t i = 0; i < graph.ranks[rank].size(); ++i) {
      const bool waits_here = graph.ranks[rank][i].does != Does::kWork;
      waits[rank].push_back(
          waits_here ? static_cast<std::int64_t>(times.end[rank][i] - times.begin[rank][i]) : 0);
    }
  }
  return waits;
}
std::int64_t sum(const Waits& waits) {
  std::int64_t all = 0;
  for (const auto& rank : waits) {
    for (const std::int64_t ns : rank) all += ns;
  }
  return all;
}

// By rank: what it is blamed for. All waits are found, and divided completely.
std::vector<std::int64_t> blame_in(const Graph& graph) {
  MadeJob made = made_from(graph);
  const JobWaits waits = find_waits(*test::Joined(made), {});
  CHECK(waits.released == 0);
  std::int64_t waited = 0, divided = 0;
  for (const WaitRow& row : waits.rows) waited += static_cast<std::int64_t>(row.ns);
  std::vector<std::int64_t> blame(graph.ranks.size());
  for (const OriginRow& row : waits.origins) {
    blame[row.process] += static_cast<std::int64_t>(row.direct_ns + row.indirect_ns);
    divided += static_cast<std::int64_t>(row.direct_ns + row.indirect_ns);
  }
  CHECK(waited == sum(waits_in(graph, std::vector<bool>(graph.delayed.size()))));
  CHECK(divided == waited);
  return blame;
}

// By rank: the waiting that would be saved without each of its delays, added up. `hidden`: whether
// delays hide each other.
std::vector<std::int64_t> saved_in(const Graph& graph, bool& hidden) {
  const std::size_t delays = graph.delayed.size();
  const Waits all = waits_in(graph, std::vector<bool>(delays));
  std::vector<std::int64_t> saved(graph.ranks.size());
  Waits explained = waits_in(graph, std::vector<bool>(delays, true));
  REQUIRE(sum(explained) == 0);
  hidden = false;
  for (std::size_t i = 0; i < delays; ++i) {
    std::vector<bool> alone(delays, true), others(delays);
    alone[i] = false;
    others[i] = true;
    const Waits with_it = waits_in(graph, alone), without_it = waits_in(graph, others);
    saved[static_cast<std::size_t>(graph.delayed[i])] += sum(all) - sum(without_it);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      for (std::size_t act = 0; act < all[rank].size(); ++act) {
        explained[rank][act] += with_it[rank][act];
        hidden = hidden || all[rank][act] - without_it[rank][act] != with_it[rank][act];
      }
    }
  }
  hidden = hidden || explained != all;
  return saved;
}

constexpr std::uint64_t kDelay = 600;
using Blame = std::vector<std::int64_t>;

TEST_CASE("of two ranks that delay others one after the other each gets what it caused") {
  struct Case {
    std::string name;
    void (*make)(Graph& graph, int late);  // everyone else waits for the late rank
  };
  const std::vector<Case> cases = {
      {"messages",
       [](Graph& graph, int late) {
         for (int to = 0; to < graph.size(); ++to) {
           if (to != late) graph.message(late, to);
         }
       }},
      {"broadcasts",
       [](Graph& graph, int late) { graph.collective("MPI_Bcast", graph.everyone(), late); }},
      {"barriers", [](Graph& graph, int) { graph.collective("MPI_Barrier", graph.everyone()); }},
      {"a barrier of some, and messages to the others",
       [](Graph& graph, int late) {
         graph.collective("MPI_Barrier", {0, 1, 2});
         graph.message(late, 3);
       }},
      {"a broadcast to some, and its receivers' messages",
       [](Graph& graph, int late) {
         graph.collective("MPI_Bcast", {0, 1, 2}, late);
         graph.message(2, 3);
       }},
      {"a reduction, and its root's broadcast",
       [](Graph& graph, int) {
         graph.collective("MPI_Reduce", graph.everyone(), 3);
         graph.collective("MPI_Bcast", graph.everyone(), 3);
       }},
      {"a way through a third rank",
       [](Graph& graph, int late) {
         graph.message(late, 2);
         graph.collective("MPI_Bcast", {0, 1, 2}, 2);
         graph.message(2, 3);
       }},
  };
  for (const Case& first : cases) {
    for (const Case& second : cases) {
      CAPTURE(first.name);
      CAPTURE(second.name);
      Graph graph(4);
      graph.all_work(kWork);
      graph.delay(0, kDelay);
      first.make(graph, 0);
      graph.all_work(kWork);
      graph.delay(1, kDelay);
      second.make(graph, 1);
      CHECK(blame_in(graph) == Blame{3 * kDelay, 3 * kDelay, 0, 0});
      bool hidden = false;
      CHECK(saved_in(graph, hidden) == Blame{3 * kDelay, 3 * kDelay, 0, 0});
      CHECK(!hidden);
    }
  }
}

TEST_CASE("a delay on top of one that is passed on is told apart from it") {
  Graph graph(3);
  graph.all_work(kWork);
  graph.delay(0, kDelay);
  graph.message(0, 1);
  graph.all_work(kWork);
  graph.delay(1, kDelay);
  graph.message(1, 2);
  CHECK(blame_in(graph) == Blame{2 * kDelay, kDelay, 0});
}

TEST_CASE("a delay is followed through many ranks that add little to it") {
  constexpr int kRanks = 30;
  Graph graph(kRanks);
  graph.all_work(kWork);
  graph.delay(0, kDelay);
  for (int rank = 1; rank < kRanks; ++rank) {
    graph.message(rank - 1, rank);
    graph.all_work(kWork);
    graph.delay(rank, 2);
  }
  const Blame blame = blame_in(graph);
  CHECK(blame[0] == (kRanks - 1) * kDelay);
  // Each rank's little delay made all after it wait; what fell out of the stack went to later ranks.
  std::int64_t small_ns = 0;
  for (int rank = 1; rank < kRanks; ++rank) small_ns += blame[static_cast<std::size_t>(rank)];
  CHECK(small_ns == (kRanks - 1) * (kRanks - 2));
}

constexpr std::uint64_t kGraphs = 600;

TEST_CASE("what a rank is blamed for is what would be saved without its delays") {
  int exact = 0, hiding = 0, with_several_causes = 0;
  std::int64_t hiding_ns = 0, wrong_ns = 0;
  for (std::uint64_t seed = 1; seed <= kGraphs; ++seed) {
    CAPTURE(seed);
    const Graph graph = drawn(seed, 1 + static_cast<int>(seed % 4));
    bool hidden = false;
    const Blame saved = saved_in(graph, hidden), blame = blame_in(graph);
    if (!hidden) {
      CHECK(blame == saved);
      ++exact;
      if (std::count_if(saved.begin(), saved.end(), [](auto ns) { return ns > 0; }) > 1)
        ++with_several_causes;
      continue;
    }
    ++hiding;
    for (std::size_t rank = 0; rank < blame.size(); ++rank) {
      const bool delayed = std::find(graph.delayed.begin(), graph.delayed.end(),
                                     static_cast<int>(rank)) != graph.delayed.end();
      hiding_ns += blame[rank];
      wrong_ns += delayed ? 0 : blame[rank];
    }
  }
  CHECK(wrong_ns * 1000 < hiding_ns);
  // Enough of each for the above to mean something.
  CHECK(exact > 250);
  CHECK(with_several_causes > 50);
  CHECK(hiding > 150);
}

}  // namespace
}  // namespace fathom::analysis
