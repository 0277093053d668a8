// SPDX-License-Identifier: BSD-3-Clause
// How unevenly time is spread over the ranks: each MPI function, and the program outside of MPI.
//
//   imbalance       most / mean of all ranks; one that never called the function counts as 0. 1 is even.
//   lost_seconds    (most - mean) × ranks: what the others could have done until the busiest was ready
//
// A finding is made of the program's time alone: time in MPI is uneven because ranks wait in it.
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

// Most time first. `processes`: those that count; functions that none of them called are left out.
std::vector<FunctionBalance> balance_of(const std::vector<CallRow>& rows,
                                        const std::vector<std::uint32_t>& processes);

base::Result<Outcome> load_imbalance(const Input& input);

}  // namespace fathom::analysis
