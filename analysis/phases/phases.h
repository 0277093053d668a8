// SPDX-License-Identifier: BSD-3-Clause
// Phases and iterations of a job, found in its sequence of calls, with the traffic of each; also
// the phases that the program names (fathom_phase_begin).
//
// Each rank's calls are searched for loops (call_loops.h). Calls of the same function in the same
// source line count as equal (loop_sites.h). MPI_Test and its variants, which a program may call
// any number of times, and MPI_Init and MPI_Finalize are left out. An outermost loop is its rank's
// part in a phase if it, or a loop in it, has at least phase_iterations iterations, and if it takes
// phase_share of the time from the rank's first call to the last, or is one of the rank's
// phases_kept longest. Parts of different ranks form one phase if they overlap for more than half
// of the shorter one; ranks are processed in order, each compared with the last that joined, and of
// several phases one with the same calls is preferred. Phases are numbered from 1 by their
// beginnings.
//
// A repetition that a single rank has may be chance: others make the same calls, but not in turn.
// It is a phase only if some of its calls are made by this rank alone, as those of a master are, or
// if at least half of the ranks have the same loop, at other times.
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
  std::uint64_t hash = 0;  // equal for loops of the same calls
  Iterations iterations;
};

struct FoundPhase {
  std::vector<PhasePart> parts;  // by process
  std::uint64_t begin_ns = 0, end_ns = 0;
};

// `parts`: by process, then in order of time.
std::vector<FoundPhase> phases_of(const std::vector<PhasePart>& parts);

// Whether a phase is more than a chance repetition on one rank. `has_own_calls`: some calls of its
// first part are made by no other process. `all`: the parts of all phases.
bool is_more_than_chance(const FoundPhase& phase, const std::vector<PhasePart>& all,
                         bool has_own_calls, std::size_t processes);

base::Result<Outcome> phases(const Input& input);

}  // namespace fathom::analysis
