// SPDX-License-Identifier: BSD-3-Clause
// Phases and iterations of a job, found from the sequence of its calls, and what is sent in each;
// the phases that the program names (fathom_phase_begin) beside them.
//
// Each rank's calls are searched for loops (call_loops.h; calls of one function, call site and
// communicator are alike; MPI_Test and its kin, which programs call as often as they like, and
// MPI_Init, MPI_Finalize are left out). A loop of the outermost level with phase_iterations
// iterations or more that takes phase_share of the time from its rank's first call to the last is
// that rank's part in a phase. Parts of different ranks are one phase if they overlap for more than
// half of the shorter one; ranks are gone through in order, each compared with the last that
// joined. Phases are numbered from 1 in the order in which they begin.
//
// Messages count for the phase in which they were received. Those outside of all loops have phase
// 0. Memory: loops, and pairs that talk in each. Cost: one pass over the steps, one over the
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
  std::uint32_t loop = 0;  // number among the process's
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::uint64_t calls = 0;
  Iterations iterations;
};

// A line of what one iteration does: calls, and loops with theirs one level deeper.
struct BodyLine {
  std::uint32_t process = 0, loop = 0;
  std::uint32_t depth = 0;
  std::uint32_t function = 0;          // of a call
  std::uint64_t fewest = 1, most = 1;  // times; loops: iterations
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
