// SPDX-License-Identifier: BSD-3-Clause
// How unevenly time is distributed over the ranks: for each MPI function, and for the program
// outside MPI.
//
//   imbalance       max / mean over all ranks; ranks that never called the function count as 0.
//                   1 is even
//   lost_seconds    (max - mean) × ranks: the time the others had left until the busiest was done
//
// It makes no finding: what an uneven load costs is time that others wait, and wait-states finds
// that, with the work that is uneven (wait_findings.h: load-imbalance).
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/calls/call_rows.h"
#include "analysis/results/analysis.h"

namespace fathom::analysis {

// What is compared between ranks: of each function's calls, their time or their number.
enum class CallMetric { kExclusiveNs, kInclusiveNs, kCount };

struct FunctionBalance {
  std::uint32_t function = kProgram;
  std::vector<std::uint64_t> values;  // by process
  std::uint64_t sum = 0, most = 0, least = 0;

  double mean() const {
    return values.empty() ? 0 : static_cast<double>(sum) / static_cast<double>(values.size());
  }
  double imbalance() const { return sum > 0 ? static_cast<double>(most) / mean() : 0; }
  double lost() const {
    return static_cast<double>(most) * static_cast<double>(values.size()) -
           static_cast<double>(sum);
  }
  // Indices into `values`, largest value first.
  std::vector<std::size_t> busiest() const;
  // The first `count` of them, without those whose value is 0.
  std::vector<std::size_t> top(std::size_t count) const;
};

// Largest sum first. `processes`: those to include; functions that none of them called are left out.
std::vector<FunctionBalance> balance_of(const std::vector<CallRow>& rows,
                                        const std::vector<std::uint32_t>& processes,
                                        CallMetric metric = CallMetric::kExclusiveNs);

base::Result<Outcome> load_imbalance(const Input& input);

}  // namespace fathom::analysis
