// SPDX-License-Identifier: BSD-3-Clause
// Where the time of all ranks went, with nothing left over: every moment of every rank, while the
// program has MPI (analysis/scope/trace_span.h), is in exactly one row, and the rows add up to ranks
// × span, to the nanosecond.
//
//   computing       outside MPI
//   late-sender, …  a wait for another process, by kind (analysis/engine/call_wait.h)
//   transferring    in a call that completed messages, or a barrier or all-to-all collective, after
//                   everyone it depends on was there: the network, the copies, the library's work
//   unexplained     in MPI, and neither: the functions are listed. Single tests, posting, locks and
//                   other one-sided operations, and rooted collectives and scans after the wait for
//                   the root, where the trace does not tell a transfer from a wait for another member
//   start-up        not yet out of MPI_Init when the first rank was
//   end             in MPI_Finalize, or past the last event, when another rank was not
//   other-phases    in phases that were not chosen
//
// Time is that of each rank's first thread. A nested call's wait belongs to the outermost call.
// Start-up before the span is a figure: its seconds, and how much later than the first the last rank
// came to it.
//
// From a profile the rows are those that sums can give: `computing` is a rank's time from MPI_Init to
// MPI_Finalize without its calls; `start-up-and-end` is by how much that time is shorter than the
// longest rank's until the last rank came to MPI_Finalize; waits too short to be remembered are unexplained.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/results/analysis.h"
#include "mpi/meaning.h"

namespace fathom::analysis {

// Below this share of all ranks' time, what is unexplained hides no finding.
inline constexpr double kLittleUnexplained = 0.02;

// A row's kind, where it is not the name of a wait.
inline constexpr char kComputing[] = "computing";
inline constexpr char kComputingOrMissing[] = "computing-or-missing";  // the trace lacks calls
inline constexpr char kTransferring[] = "transferring";
inline constexpr char kUnexplained[] = "unexplained";
inline constexpr char kStartUp[] = "start-up";
inline constexpr char kEnd[] = "end";
inline constexpr char kStartUpAndEnd[] = "start-up-and-end";
inline constexpr char kOtherPhases[] = "other-phases";
inline constexpr char kNotReported[] = "not-reported";  // ranks that left no times

// Whether nothing but the transfer is left of a collective once the wait for the others is over: in
// rooted ones and scans a member may still wait for others that have not come.
constexpr bool ends_with_transfer(mpi::Flow flow) {
  return flow == mpi::Flow::kBarrier || flow == mpi::Flow::kAllToAll;
}

struct TimeBreakdown {
  struct Row {
    std::string kind;
    std::uint64_t ns = 0;
  };
  struct Function {
    std::string name;
    std::uint64_t ns = 0;
  };
  struct Rank {
    std::int64_t rank = 0;
    std::uint64_t computing_ns = 0, waiting_ns = 0, transferring_ns = 0, unexplained_ns = 0,
                  outside_ns = 0;  // start-up, end and other phases
  };

  void add(const std::string& kind, std::uint64_t ns);
  void add_unexplained(const std::string& function, std::uint64_t ns);

  std::uint64_t span_ns = 0;
  bool computing_known = true;        // else kComputing also holds calls that the trace lacks
  std::vector<Row> rows;              // in the order of adding; those without time are left out
  std::vector<Function> unexplained;  // by function
  std::vector<Rank> ranks;
};

// Figures and tables of a breakdown; sorts the functions.
void lay_out(TimeBreakdown breakdown, Section& section);

base::Result<Outcome> time_breakdown(const Input& input);

// The part of it for a run without a trace.
base::Result<Outcome> time_breakdown_of_profile(const Input& input);

}  // namespace fathom::analysis
