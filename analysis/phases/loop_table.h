// SPDX-License-Identifier: BSD-3-Clause
// The loops of phases as a table: how they nest, what they are called, where in the source they
// are, and how often they run.
//
// The calls of a loop are known, its `for` is not. So a loop is named after the functions that make
// its calls, in the order of their first calls, and its lines are those of its calls.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/phases/call_loops.h"
#include "analysis/phases/loop_sites.h"
#include "analysis/results/section.h"
#include "trace/definitions.h"

namespace fathom::analysis {

// A line of a loop: a call; or a loop or a branch, whose contents follow one level deeper. The
// first line of a loop of the outermost level is the loop itself.
struct LoopLine {
  enum Kind : std::uint32_t { kCall, kLoop, kBranch };

  std::uint32_t process = 0, loop = 0;  // the loop of the outermost level that this is part of
  std::uint32_t depth = 0;
  Kind kind = kCall;
  std::uint32_t function = 0;    // of a call
  std::uint32_t unused = 0;      // so that all bytes are set
  std::uint64_t address = 0;     // of a call
  std::uint64_t fewest = 1;      // loop: iterations each time it is entered
  std::uint64_t most = 1;        // likewise
  std::uint64_t iterations = 1;  // loop, branch: in total
  std::uint64_t entered = 1;     // loop
  std::uint64_t calls = 1;       // in it
  std::uint64_t ns = 0;          // loop: sum over its iterations
  std::uint64_t begin_ns = 0;    // loop: of the first iteration
  std::uint64_t end_ns = 0;      // loop: of the last
};

// Appends a loop and what is in it, at most kMostLines lines.
inline constexpr std::size_t kMostLines = 128;
void add_loop(std::uint32_t process, std::uint32_t loop, const CallItem& item,
              const std::vector<std::uint64_t>& addresses, std::vector<LoopLine>& lines);

// "MPI_Irecv, 4 × MPI_Send, MPI_Waitall, 20–25 × (MPI_Sendrecv, MPI_Allreduce)"; of branches "…;
// 12 times instead: MPI_Sendrecv, MPI_Allreduce". `lines`: of one loop, which is the first.
std::string body_text(std::span<const LoopLine> lines, const trace::Definitions& definitions);

struct LoopName {
  std::string name;  // "solve", "exchange, norm", "app+0x1234"; empty if nothing is known
  std::string file;  // of its first call whose file is known
  std::int64_t first_line = 0, last_line = 0;  // of its calls in that file; 0: not known
};
LoopName name_of(std::span<const LoopLine> lines, LoopSites& sites);

// The lines of the loop that begins at `at`: itself and what is in it.
std::span<const LoopLine> lines_of_loop(std::span<const LoopLine> lines, std::size_t at);

// A loop of a phase, and those in it with at least `fewest` iterations, as rows of "loops".
struct LoopOfPhase {
  std::int64_t phase = 0, loop = 0, inside = 0;  // numbers from 1; inside 0: of no other
  std::int64_t depth = 0, rank = 0;
  std::span<const LoopLine> lines;
};
std::vector<LoopOfPhase> loops_of_phase(std::int64_t phase, std::int64_t rank,
                                        std::span<const LoopLine> lines, double fewest);

void lay_out_loops(const std::vector<LoopOfPhase>& loops, LoopSites& sites,
                   const trace::Definitions& definitions, Section& section);

}  // namespace fathom::analysis
