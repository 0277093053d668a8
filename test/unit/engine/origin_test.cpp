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
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analysis/waits/wait_steps.h"
#include "test/unit/engine/joined_job.h"

namespace fathom::analysis {
namespace {

using test::MadeJob;

enum class Does { kWork, kSend, kSynchronousSend, kReceive, kCollective };

struct Act {
  Does does = Does::kWork;
  std::uint64_t ns = 0;  // of work
  int delay = -1;        // work that is a delay: its number
  int peer = 0;
  int tag = 0;        // of a message: its number, which no other has
  int operation = 0;  // collective: its number
};
struct Operation {
  std::string function;
  int root = 0, communicator = 0;
  std::vector<int> members;
};

struct Graph {
  std::vector<std::vector<Act>> ranks;
  std::vector<Operation> operations;
  std::vector<std::vector<int>> communicators;
  std::vector<int> delayed;  // by delay: its rank
  int messages = 0;

  explicit Graph(int size) : ranks(static_cast<std::size_t>(size)) {}
  int size() const { return static_cast<int>(ranks.size()); }
  std::vector<Act>& of(int rank) { return ranks[static_cast<std::size_t>(rank)]; }

  void work(int rank, std::uint64_t ns) { of(rank).push_back({Does::kWork, ns, -1, 0, 0, 0}); }
  void all_work(std::uint64_t ns) {
    for (int rank = 0; rank < size(); ++rank) work(rank, ns);
  }
  void delay(int rank, std::uint64_t ns) {
    of(rank).push_back({Does::kWork, ns, static_cast<int>(delayed.size()), 0, 0, 0});
    delayed.push_back(rank);
  }
  void message(int from, int to, bool synchronous = false) {
    const Does send = synchronous ? Does::kSynchronousSend : Does::kSend;
    of(from).push_back({send, 0, -1, to, messages, 0});
    of(to).push_back({Does::kReceive, 0, -1, from, messages++, 0});
  }
  int communicator(const std::vector<int>& members) {
    const auto same = std::find(communicators.begin(), communicators.end(), members);
    if (same != communicators.end()) return static_cast<int>(same - communicators.begin());
    communicators.push_back(members);
    return static_cast<int>(communicators.size() - 1);
  }
  void collective(const std::string& function, const std::vector<int>& members, int root = -1) {
    const int number = static_cast<int>(operations.size());
    operations.push_back({function, root, communicator(members), members});
    for (const int member : members) of(member).push_back({Does::kCollective, 0, -1, 0, 0, number});
  }
  std::vector<int> everyone() const {
    std::vector<int> all;
    for (int rank = 0; rank < size(); ++rank) all.push_back(rank);
    return all;
  }
};

// When each act of each rank begins and ends.
struct Times {
  std::vector<std::vector<std::uint64_t>> begin, end;
};

// Runs the job without the delays in `without`: an act ends when it and all that it depends on have
// begun. Messages are buffered unless their send is synchronous.
Times simulated(const Graph& graph, const std::vector<bool>& without) {
  const std::size_t size = graph.ranks.size();
  Times times{std::vector<std::vector<std::uint64_t>>(size),
              std::vector<std::vector<std::uint64_t>>(size)};
  std::map<int, std::uint64_t> sent, posted;  // by message
  std::vector<std::map<int, std::uint64_t>> entered(graph.operations.size());
  bool more = true;
  while (more) {
    more = false;
    for (std::size_t rank = 0; rank < size; ++rank) {
      while (times.end[rank].size() < graph.ranks[rank].size()) {
        const Act& act = graph.ranks[rank][times.end[rank].size()];
        const std::uint64_t now = times.end[rank].empty() ? 0 : times.end[rank].back();
        const int self = static_cast<int>(rank);
        std::uint64_t end = now;
        bool ready = true;
        if (act.does == Does::kWork) {
          const bool removed = act.delay >= 0 && without[static_cast<std::size_t>(act.delay)];
          end += removed ? 0 : act.ns;
        } else if (act.does == Does::kSend) {
          sent[act.tag] = now;
        } else if (act.does == Does::kReceive) {
          posted[act.tag] = now;
          ready = sent.contains(act.tag);
          if (ready) end = std::max(now, sent[act.tag]);
        } else if (act.does == Does::kSynchronousSend) {
          sent[act.tag] = now;
          ready = posted.contains(act.tag);
          if (ready) end = std::max(now, posted[act.tag]);
        } else {
          const auto number = static_cast<std::size_t>(act.operation);
          const Operation& operation = graph.operations[number];
          auto& there = entered[number];
          there.emplace(self, now);
          for (const int other : operation.members) {
            const bool depends = operation.function == "MPI_Bcast"    ? other == operation.root
                                 : operation.function == "MPI_Reduce" ? self == operation.root
                                                                      : true;
            if (!depends) continue;
            ready = ready && there.contains(other);
            if (ready) end = std::max(end, there[other]);
          }
        }
        if (!ready) break;
        times.begin[rank].push_back(now);
        times.end[rank].push_back(end);
        more = true;
      }
    }
  }
  for (std::size_t rank = 0; rank < size; ++rank)
    REQUIRE(times.end[rank].size() == graph.ranks[rank].size());
  return times;
}

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

MadeJob made_from(const Graph& graph) {
  const Times times = simulated(graph, std::vector<bool>(graph.delayed.size()));
  MadeJob made(graph.size());
  std::vector<int> numbers;
  for (const std::vector<int>& members : graph.communicators) {
    numbers.push_back(made.add_communicator("part", 0));
    for (const int member : members)
      made.definitions.communicators.back().world_ranks.push_back(member);
  }
  for (int rank = 0; rank < graph.size(); ++rank) {
    const auto number = static_cast<std::size_t>(rank);
    for (std::size_t i = 0; i < graph.ranks[number].size(); ++i) {
      const Act& act = graph.ranks[number][i];
      const std::uint64_t begin = times.begin[number][i], end = times.end[number][i];
      if (act.does == Does::kSend || act.does == Does::kSynchronousSend) {
        const std::string function = act.does == Does::kSend ? "MPI_Send" : "MPI_Ssend";
        MadeJob::about(made.enter(rank, begin, function), act.peer, act.tag, 8);
        made.message(rank, begin, true, act.peer, act.tag, 8);
        made.leave(rank, end, function);
      } else if (act.does == Does::kReceive) {
        MadeJob::about(made.enter(rank, begin, "MPI_Recv"), act.peer, act.tag, 8);
        made.message(rank, end, false, act.peer, act.tag, 8);
        made.leave(rank, end, "MPI_Recv");
      } else if (act.does == Does::kCollective) {
        const Operation& operation = graph.operations[static_cast<std::size_t>(act.operation)];
        made.collective(rank, begin, end, operation.function, operation.root,
                        numbers[static_cast<std::size_t>(operation.communicator)]);
      }
    }
  }
  return made;
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

constexpr std::uint64_t kDelay = 600, kWork = 1000;
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

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  int below(int limit) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(limit)); }
  std::vector<int> some(int size) {
    std::vector<int> chosen;
    while (chosen.size() < 2) {
      chosen.clear();
      for (int rank = 0; rank < size; ++rank) {
        if (below(2) == 0) chosen.push_back(rank);
      }
    }
    return chosen;
  }

 private:
  std::mt19937_64 engine_;
};

Graph drawn(std::uint64_t seed, int delays) {
  Draw draw(seed);
  Graph graph(3 + draw.below(4));
  const int rounds = 2 + draw.below(4);
  std::vector<int> when;
  for (int i = 0; i < delays; ++i) when.push_back(draw.below(rounds));
  for (int round = 0; round < rounds; ++round) {
    graph.all_work(kWork);
    for (const int delayed : when) {
      if (delayed == round)
        graph.delay(draw.below(graph.size()), 1 + static_cast<std::uint64_t>(draw.below(500)));
    }
    for (int left = 1 + draw.below(4); left > 0; --left) {
      if (draw.below(2) == 0) {
        const int from = draw.below(graph.size()), away = 1 + draw.below(graph.size() - 1);
        graph.message(from, (from + away) % graph.size(), draw.below(4) == 0);
        continue;
      }
      const std::vector<int> members =
          draw.below(3) == 0 ? graph.everyone() : draw.some(graph.size());
      static const char* const kFunctions[] = {"MPI_Bcast", "MPI_Reduce", "MPI_Barrier",
                                               "MPI_Allreduce"};
      const int function = draw.below(4);
      const int root =
          members[static_cast<std::size_t>(draw.below(static_cast<int>(members.size())))];
      graph.collective(kFunctions[function], members, function < 2 ? root : -1);
    }
  }
  return graph;
}

constexpr std::uint64_t kGraphs = 1500;

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
  CHECK(exact > 500);
  CHECK(with_several_causes > 100);
  CHECK(hiding > 300);
}

}  // namespace
}  // namespace fathom::analysis
