// SPDX-License-Identifier: BSD-3-Clause
// How long a verdict takes: milliseconds of processor time for jobs that hang in different ways.
//
// usage: verdict_speed [RANKS...]     default: 256 4096 65536
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/processor_time.h"
#include "live/verdict/verdict.h"
#include "test/unit/live/made_job.h"

namespace {

using fathom::live::MadeJob;

// Half of the ranks are in a collective; the others wait for each other in a ring.
MadeJob half_in_collective(int ranks) {
  MadeJob job(ranks);
  for (int rank = 0; rank < ranks / 2; ++rank) job.collective(rank, "MPI_Allreduce", 7);
  for (int rank = ranks / 2; rank < ranks; ++rank)
    job.receive(rank, rank + 1 < ranks ? rank + 1 : ranks / 2, 1);
  return job;
}

// Each rank waits for the one before it; the first was killed.
MadeJob chain(int ranks) {
  MadeJob job(ranks);
  for (int rank = 1; rank < ranks; ++rank) job.receive(rank, rank - 1, 1);
  job.rank(0).state = fathom::live::ProcessState::kGone;
  return job;
}

// The same, and the first computes.
MadeJob slow_pipeline(int ranks) {
  MadeJob job(ranks);
  for (int rank = 1; rank < ranks; ++rank) job.receive(rank, rank - 1, 1);
  return job;
}

// Every rank would take a message from any other.
MadeJob any_source(int ranks) {
  MadeJob job(ranks);
  for (int rank = 0; rank < ranks; ++rank) job.receive(rank, fathom::live::kAnyone, 1);
  return job;
}

// Every rank waits for all: the neighbours of a grid, with a message that nobody takes.
MadeJob halo(int ranks) {
  MadeJob job(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    auto& thread = job.call(rank, "MPI_Waitall", "halo.c:88");
    thread.waits_for_all = true;
    for (const int offset : {1, 16, ranks - 1, ranks - 16})
      thread.pending.push_back({fathom::live::RequestKind::kReceive, (rank + offset) % ranks, 3,
                                fathom::live::kWorld, 4096});
    job.sent(rank, (rank + 7) % ranks, 4, 1);
  }
  return job;
}

void measure(const char* name, MadeJob (*make)(int), int ranks) {
  const MadeJob job = make(ranks);
  const auto earlier = job.earlier();
  const double begun = fathom::bench::processor_seconds();
  const auto verdict = fathom::live::judge(job.state, earlier);
  const double taken = fathom::bench::processor_seconds() - begun;
  std::printf("%8d  %-20s %10.2f ms  %s\n", ranks, name, taken * 1e3, name_of(verdict.cause));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::max(32, std::atoi(argv[i])));
  if (sizes.empty()) sizes = {256, 4096, 65536};
  for (const int ranks : sizes) {
    measure("half-in-collective", half_in_collective, ranks);
    measure("chain", chain, ranks);
    measure("slow-pipeline", slow_pipeline, ranks);
    measure("halo", halo, ranks);
    if (ranks <= 4096) measure("any-source", any_source, ranks);
  }
  return 0;
}
