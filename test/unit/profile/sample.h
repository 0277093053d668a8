// SPDX-License-Identifier: BSD-3-Clause
// A small profile that uses every field of profile.h, for round trips and golden files.
#pragma once

#include "profile/profile.h"

namespace fathom::test {

inline profile::Profile sample_profile() {
  profile::Profile sample;
  sample.world_size = 4;
  sample.application = {
      "/usr/bin/solver", {"-n", "a \"quoted\" name"}, 1'700'000'000'123'456'789, 1.5};
  sample.mpi = {"Open MPI", "4.1.4", "ob1"};
  sample.source = "peruse";
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    profile::Rank entry;
    entry.rank = rank;
    entry.host = rank < 2 ? "n1" : "n2";
    entry.pid = 100 + rank;
    entry.seconds = 1.5 - 0.1 * static_cast<double>(rank);
    sample.ranks.push_back(entry);
  }
  sample.ranks[3].reported = false;
  profile::Rank spawned;
  spawned.rank = 4;
  spawned.host = "n2";
  spawned.pid = 200;
  spawned.seconds = 0.25;
  spawned.world = "spawned 1";
  spawned.rank_in_world = 0;
  sample.ranks.push_back(spawned);

  profile::Communicator world;
  world.name = "MPI_COMM_WORLD";
  world.made_by = "predefined";
  world.world_ranks = {0, 1, 2, 3};
  profile::Communicator to_child;
  to_child.id = 1;
  to_child.made_by = "MPI_Comm_spawn";
  to_child.parent = 0;
  to_child.internal = true;
  to_child.world_ranks = {0, 1, 2, 3};
  to_child.remote_world_ranks = {4};
  to_child.instances = 3;
  sample.communicators = {world, to_child};

  sample.performance_variables = {{"unexpected_queue_length",
                                   "how long, in messages",
                                   "communicator 0",
                                   {0, 1},
                                   {{1, 2.5}, {}}}};

  sample.traffic = {
      {profile::kPointToPoint, false, 0, "", {0, 1, 3}, {1, 0, 3}, {120, 60, 0}, {10, 5, 2}},
      {"MPI_Allreduce", true, 0, "solve, outer", {0, 1}, {1, 0}, {8000, 8000}, {80, 80}},
      {profile::kPointToPoint, false, 1, "", {0}, {4}, {18'000'000'000'000'000'000u}, {1}},
  };
  sample.message_sizes = {
      {profile::kPointToPoint, false, {0, 12}, {2, 15}, {1ull << 63}, {1}},
      {"MPI_Allreduce", true, {100}, {160}, {}, {}},
  };

  profile::Coverage& coverage = sample.coverage;
  coverage.verdict = "differs";
  coverage.sent = {16300, 180, "pml"};
  coverage.received = {16180, 177, "peruse"};
  coverage.unreceived = {120, 2, "pml"};
  coverage.unreceived_pairs = {{2, 3, 120, 2}};
  coverage.differences = {{1, 0, 10, 2, 8, 1}};
  coverage.not_visible = {
      {0, "MPI_Bcast", "coll/sm", 7, "shared memory, no messages"},
      {profile::kNone, "MPI_Put", "osc/rdma", 1, "written by the network card"}};
  coverage.steps_down = {{"peruse", "this Open MPI was built without PERUSE."}};
  coverage.lost_messages = 3;
  coverage.cut_short = "rank 3 called MPI_Abort";
  coverage.notes = {"One note."};
  return sample;
}

// The same, with the times of calls.
inline profile::Profile timed_sample_profile() {
  profile::Profile sample = sample_profile();
  sample.ranks[1].peak_memory_bytes = 123'456'789;
  sample.ranks[1].processor_wait_seconds = 0.5;
  sample.call_sites = {{0, "/usr/bin/solver", "5f0c", 4660, "exchange", "src/solver.c", 120},
                       {1, "", "", 0x7f00'0000'1234, "", "", 0}};
  sample.call_durations = {{"MPI_Send", 0, {256, 512}, {9, 1}}, {"MPI_Wait", 1, {1}, {3}}};
  sample.calls = {{"MPI_Send",
                   0,
                   0,
                   "solve, outer",
                   {0, 1},
                   {4, 6},
                   {4000, 6000},
                   {900, 800},
                   {1100, 1500},
                   {120, 60},
                   {}},
                  {"MPI_Wait",
                   1,
                   profile::kNone,
                   "",
                   {3},
                   {3},
                   {18'000'000'000'000'000'000u},
                   {1},
                   {2},
                   {0},
                   {1}}};
  sample.coverage.untimed_calls = 2;
  return sample;
}

// The same, with waits and critical paths.
inline profile::Profile waiting_sample_profile() {
  profile::Profile sample = timed_sample_profile();
  sample.waits = {{"late-sender",
                   "MPI_Wait",
                   1,
                   profile::kNone,
                   "",
                   {1, 2},
                   {0, 1},
                   {10, 3},
                   {400'000'000, 50'000'000},
                   {90'000'000, 20'000'000}},
                  {"wait-at-nxn",
                   "MPI_Allreduce",
                   0,
                   0,
                   "solve, outer",
                   {0, 1, 2},
                   {3, 3, 4},
                   {1, 1, 2},
                   {300'000'000, 200'000'000, 18'000'000},
                   {300'000'000, 200'000'000, 10'000'000}}};
  sample.path = {
      {"",
       1'500'000'000,
       12,
       40'000'000,
       {{"MPI_Allreduce", 0, 0, "solve, outer", false, {0}, {1}, {100'000'000}, {2}, {64}},
        {"MPI_Allreduce",
         0,
         0,
         "solve, outer",
         true,
         {0, 3},
         {4, 5},
         {300'000'000, 1'000'000'000},
         {},
         {}},
        {"MPI_Wait", 1, profile::kNone, "", false, {1}, {3}, {100'000'000}, {3}, {0}}},
       1,
       {},
       {}},
      {"solver",
       2'000,
       0,
       0,
       {{"MPI_Wait", 1, profile::kNone, "", true, {2}, {1}, {2'000}, {}, {}}},
       3,
       {{0, 2}, {2'100, 1'900}},
       {{"MPI_Allreduce", 0, {0, 2}, {3, 3}, {900, 800}, {0, 500}, {24, 24}}}}};
  sample.coverage.waits = {1'000, 7, 3'500, 2, 1'800};
  return sample;
}

}  // namespace fathom::test
