// SPDX-License-Identifier: BSD-3-Clause
// The job over time, in bins of equal length: time in each MPI function and in the program,
// messages and bytes sent and received.
#pragma once

#include "analysis/results/analysis.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

inline constexpr std::size_t kTimeBins = 50;

// Exclusive time of each function in each bin, summed over the processes.
base::Result<Outcome> time_profile(const Input& input);

// Messages and bytes per bin; the program's own and the library's hidden ones are separate.
base::Result<Outcome> comm_over_time(const Input& input);

}  // namespace fathom::analysis
