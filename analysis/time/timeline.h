// SPDX-License-Identifier: BSD-3-Clause
// The whole job over time as a grid, small enough for a picture whatever the size of the job: rows
// are threads, or neighbouring ranks where there are many; columns are bins of time.
//
// The time is that of all shares (analysis/scope/trace_span.h): from the end of the first MPI_Init
// to the beginning of the last MPI_Finalize, or the scope's window.
//
//   rows       rank, last_rank: neighbours that share the row; thread: -1 for all of them; threads:
//              how many
//   cells      seconds that a row spends in a bin in a group of MPI functions, in the outermost
//              calls of its threads; the rest of bin × threads is the program's, or after its end
//   phases     seconds of all ranks in each of the program's named phases, by bin; the innermost
//              phase counts
//   functions  the group of each function that was called
//
// Cost: one pass over the events. Memory: the grid, at most kTimelineRows × groups × bins words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/results/analysis.h"
#include "analysis/scope/trace_span.h"

namespace fathom::analysis {

inline constexpr std::size_t kTimelineRows = 128, kTimelineBins = 480;

// Processes of the trace, and which of their threads, that share a row.
struct TimelineRow {
  std::uint32_t first_process = 0, last_process = 0;
  std::int64_t thread = -1;  // -1: all
  std::uint64_t threads = 0;
};

// The rows of the chosen processes, at most `most` of them: a row for each thread if that is few
// enough, else for each process, else for as many neighbours as necessary.
std::vector<TimelineRow> timeline_rows(const trace::Definitions& definitions,
                                       const std::vector<std::uint32_t>& chosen, std::size_t most);

base::Result<Outcome> timeline(const Input& input);

}  // namespace fathom::analysis
