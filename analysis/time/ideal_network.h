// SPDX-License-Identifier: BSD-3-Clause
// How long the job would have taken on an ideal network: every transfer takes no time, calls of MPI
// take none either, and only the program's computing and the order of dependence are left.
//
// The replay keeps each process's computing as it was (time of its first thread outside of MPI,
// from leaving MPI_Init to entering MPI_Finalize) and lets a call end as soon as those have come
// that it cannot go on without: the sender of a message, the members of a collective
// (analysis/engine/collectives.h). It is exact for that machine, not an estimate: integers, the
// same for every number of analysis processes. What it rests on:
//   - sends never wait for their receiver, as if every message were buffered. Waits for late receivers thus count
//     as transfer, not as dependence;
//   - messages are matched as they were, and a loop of MPI_Test runs as often as it did;
//   - the moment at which a process left MPI_Init is kept.
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
  std::uint64_t released = 0;        // dependences left out, for their other end is missing
};

// Collective over the job's transport.
IdealRun ideal_run(JoinedJob& job);

}  // namespace fathom::analysis
