// SPDX-License-Identifier: BSD-3-Clause
// States of jobs, made for tests: everyone computes until a test says what it does instead.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "live/job_state.h"

namespace fathom::live {

inline constexpr std::uint64_t kWorld = 1;

struct MadeJob {
  JobState state;

  explicit MadeJob(std::int32_t ranks) {
    state.run = "made";
    state.program = "./app";
    state.world_size = ranks;
    Communicator world{.id = kWorld, .name = "MPI_COMM_WORLD", .members = {}, .remote = {}};
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      world.members.push_back(rank);
      RankState made;
      made.rank = rank;
      made.host = "node1";
      made.pid = 1000 + rank;
      made.state = ProcessState::kRunning;
      made.elapsed_s = 100;
      made.processor_s = 100;
      ThreadState thread;
      thread.place = "solver.c:10";
      thread.since_s = 42;
      thread.calls = 7;
      made.threads.push_back(thread);
      state.ranks.push_back(std::move(made));
    }
    state.communicators.push_back(std::move(world));
  }

  RankState& rank(std::int32_t rank) { return state.ranks[static_cast<std::size_t>(rank)]; }
  ThreadState& thread(std::int32_t at) { return rank(at).threads.front(); }

  ThreadState& call(std::int32_t at, const std::string& function, const std::string& place) {
    ThreadState& made = thread(at);
    made.function = function;
    made.place = place;
    made.since_s = 41;
    return made;
  }
  ThreadState& collective(std::int32_t at, const std::string& function, std::uint64_t ordinal,
                          std::uint64_t communicator = kWorld) {
    ThreadState& made = call(at, function, "solver.c:221");
    made.communicator = communicator;
    made.collective = ordinal;
    return made;
  }
  ThreadState& receive(std::int32_t at, std::int32_t from, std::int32_t tag,
                       std::uint64_t communicator = kWorld) {
    ThreadState& made = call(at, "MPI_Recv", "halo.c:88");
    made.communicator = communicator;
    made.waits_for_all = true;
    made.pending.push_back({RequestKind::kReceive, from, tag, communicator, 8});
    return made;
  }
  ThreadState& send(std::int32_t at, std::int32_t to, std::int32_t tag,
                    std::uint64_t communicator = kWorld) {
    ThreadState& made = call(at, "MPI_Send", "halo.c:80");
    made.communicator = communicator;
    made.waits_for_all = true;
    made.pending.push_back({RequestKind::kSend, to, tag, communicator, 1 << 20});
    sent(at, to, tag, 1, communicator);
    return made;
  }
  void sent(std::int32_t from, std::int32_t to, std::int32_t tag, std::uint64_t count,
            std::uint64_t communicator = kWorld) {
    ChannelCount channel{.peer = to, .communicator = communicator, .tag = tag};
    channel.sent = count;
    rank(from).channels.push_back(channel);
  }
  void received(std::int32_t at, std::int32_t from, std::int32_t tag, std::uint64_t count) {
    ChannelCount channel{.peer = from, .communicator = kWorld, .tag = tag};
    channel.received = count;
    rank(at).channels.push_back(channel);
  }

  // The same job two seconds ago: nobody has begun a call since, and those that compute used their processor.
  JobState earlier() const {
    JobState before = state;
    for (RankState& rank : before.ranks) {
      rank.elapsed_s -= 2;
      if (rank.state != ProcessState::kStopped) rank.processor_s -= 2;
      const bool in_mpi = !rank.threads.empty() && !rank.threads.front().function.empty();
      if (in_mpi) rank.mpi_s -= 2;
    }
    return before;
  }
};

}  // namespace fathom::live
