// SPDX-License-Identifier: BSD-3-Clause
// How long the job would take on an ideal network: transfers and MPI calls take no time; only the
// program's computing and the order of dependences remain.
//
// The replay keeps each process's computing as recorded (time of its first thread outside MPI, from
// leaving MPI_Init to entering MPI_Finalize). A call ends as soon as everything it depends on has
// arrived: the sender of a message, the members of a collective (analysis/engine/collectives.h).
// The result is exact for that machine, not an estimate: integers, the same for every number of
// analysis processes. Assumptions:
//
// - Sends never wait for their receiver, as if every message were buffered. So waits for late
//   receivers count as transfer, not as dependence.
// - Messages are matched as in the run, and a loop of MPI_Test runs as often as it did.
// - The time at which each process left MPI_Init is kept.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"

namespace fathom::analysis {

struct IdealTime {  // of one process
  std::uint32_t process = 0;
  std::uint32_t reserved = 0;
  std::uint64_t begin_ns = 0, end_ns = 0;  // in the run: MPI_Init left, MPI_Finalize entered
  std::uint64_t ideal_end_ns = 0;
  std::uint64_t useful_ns = 0;  // computing
};

struct IdealRun {
  std::vector<IdealTime> processes;  // at analysis process 0, ascending
  std::uint64_t released = 0;        // dependences ignored because their other end is missing
};

// Collective over the job's transport.
IdealRun ideal_run(JoinedJob& job);

}  // namespace fathom::analysis
