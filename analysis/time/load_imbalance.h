// SPDX-License-Identifier: BSD-3-Clause
// How unevenly time is distributed over the ranks: for each MPI function, and for the program
// outside MPI.
//
//   imbalance       max / mean over all ranks; ranks that never called the function count as 0.
//                   1 is even
//   lost_seconds    (max - mean) × ranks: the time the others had left until the busiest was done
//
// Only the program's time leads to a finding: time in MPI is uneven because ranks wait in it.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/calls/call_rows.h"
#include "analysis/results/analysis.h"

namespace fathom::analysis {

struct FunctionBalance {
  std::uint32_t function = kProgram;
  std::vector<std::uint64_t> ns;  // exclusive, by process
  std::uint64_t sum_ns = 0, most_ns = 0, least_ns = 0;

  double mean_ns() const {
    return ns.empty() ? 0 : static_cast<double>(sum_ns) / static_cast<double>(ns.size());
  }
  double imbalance() const { return sum_ns > 0 ? static_cast<double>(most_ns) / mean_ns() : 0; }
  double lost_ns() const {
    return static_cast<double>(most_ns) * static_cast<double>(ns.size()) -
           static_cast<double>(sum_ns);
  }
};

// Most time first. `processes`: those to include; functions that none of them called are left out.
std::vector<FunctionBalance> balance_of(const std::vector<CallRow>& rows,
                                        const std::vector<std::uint32_t>& processes);

base::Result<Outcome> load_imbalance(const Input& input);

}  // namespace fathom::analysis
