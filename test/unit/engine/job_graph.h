// SPDX-License-Identifier: BSD-3-Clause
// Jobs drawn at random, their run in a few lines that know nothing of the analyses, and their traces.
//
// Calls take no time. Between two rounds of communication all ranks work equally long, except where
// one is delayed.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "test/unit/engine/made_job.h"

namespace fathom::test {

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
inline Times simulated(const Graph& graph, const std::vector<bool>& without) {
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

inline MadeJob made_from(const Graph& graph) {
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
    made.enter(rank, 0, "MPI_Init");
    made.leave(rank, 0, "MPI_Init");
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

constexpr std::uint64_t kWork = 1000;

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

inline Graph drawn(std::uint64_t seed, int delays) {
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

}  // namespace fathom::test
