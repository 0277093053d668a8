// SPDX-License-Identifier: BSD-3-Clause
// Phases and iterations of a job, found in its sequence of calls, with the traffic of each; also
// the phases that the program names (fathom_phase_begin).
//
// Each rank's calls are searched for loops (call_loops.h). Calls with the same function, call site
// and communicator count as equal. MPI_Test and its variants, which a program may call any number
// of times, and MPI_Init and MPI_Finalize are left out. An outermost loop with at least
// phase_iterations iterations that takes phase_share of the time from its rank's first call to the
// last is that rank's part in a phase. Parts of different ranks form one phase if they overlap for
// more than half of the shorter one; ranks are processed in order, each compared with the last that
// joined. Phases are numbered from 1 by their beginnings.
//
// A message counts for the phase in which it was received; messages outside all loops have phase 0.
// Memory: loops, and the communicating pairs of each. Cost: one pass over the steps, one over the
// events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/phases/call_loops.h"
#include "analysis/results/analysis.h"

namespace fathom::analysis {

// One rank's part in a phase.
struct PhasePart {
  std::uint32_t process = 0;
  std::uint32_t loop = 0;  // number among the process's loops
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::uint64_t calls = 0;
  Iterations iterations;
};

// A line of one iteration: a call, or a loop whose contents follow one level deeper.
struct BodyLine {
  std::uint32_t process = 0, loop = 0;
  std::uint32_t depth = 0;
  std::uint32_t function = 0;          // of a call
  std::uint64_t fewest = 1, most = 1;  // number of times; for loops: iterations
  bool is_loop = false;
};

struct FoundPhase {
  std::vector<PhasePart> parts;  // by process
  std::uint64_t begin_ns = 0, end_ns = 0;
};

// `parts`: by process, then in order of time.
std::vector<FoundPhase> phases_of(const std::vector<PhasePart>& parts);

// "4 × MPI_Irecv, MPI_Waitall, 20–25 × (MPI_Sendrecv, MPI_Allreduce)"
std::string body_text(const std::vector<BodyLine>& lines, const trace::Definitions& definitions);

base::Result<Outcome> phases(const Input& input);

}  // namespace fathom::analysis
