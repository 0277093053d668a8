// SPDX-License-Identifier: BSD-3-Clause
// Times of calls by process, function and communicator (flat_profile.h), and the copy that several
// analyses of a run share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/definitions.h"

namespace fathom::analysis {

struct CallRow {
  std::uint32_t process = 0;
  std::uint32_t function = 0;      // kProgram: outside MPI
  std::int32_t communicator = -1;  // -1: the call has none
  std::uint32_t gaps = 0;          // kProgram: how often records were lost or recording paused
  std::uint64_t count = 0, inclusive_ns = 0, exclusive_ns = 0, shortest_ns = ~std::uint64_t{0},
                longest_ns = 0;
  std::uint64_t bytes = 0;       // as passed to the calls
  std::uint64_t sampled_ns = 0;  // first thread's calls known only as sums, a part of exclusive_ns;
                                 // kProgram: of all functions, and no part of it
};
inline constexpr std::uint32_t kProgram = ~std::uint32_t{0};

// Where calls are missing, time in them cannot be told from the program's own.
inline const char* program_name(bool computing_known) {
  return computing_known ? "(program)" : "(program or missing)";
}

// The name of the function in a CallRow.
inline std::string shown_function(const trace::Definitions& definitions, std::uint32_t function,
                                  bool computing_known) {
  return function == kProgram ? program_name(computing_known)
                              : definitions.functions[function].name;
}

// Neither the program nor MPI_Init or MPI_Finalize, which the program's time lies between.
inline bool is_between_init_and_finalize(const trace::Definitions& definitions,
                                         std::uint32_t function) {
  if (function == kProgram) return false;
  const mpi::Meaning& meaning = mpi::meaning_of(definitions.functions[function].name);
  return !meaning.begins_job && !meaning.ends_job;
}

// How often records were lost or recording paused, at any process.
inline std::uint64_t gaps_in(const std::vector<CallRow>& rows) {
  std::uint64_t gaps = 0;
  for (const CallRow& row : rows) gaps += row.gaps;
  return gaps;
}

// Counted when first asked for.
class CallRowsKept {
 public:
  template <typename Count>
  const base::Result<std::vector<CallRow>>& once(Count count) {
    if (!rows_) rows_ = count();
    return *rows_;
  }

 private:
  std::optional<base::Result<std::vector<CallRow>>> rows_;
};

}  // namespace fathom::analysis
