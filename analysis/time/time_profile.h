// SPDX-License-Identifier: BSD-3-Clause
// The job over time, in bins: time in each MPI function and in the program, messages and bytes sent
// and received.
#pragma once

#include <cstddef>

#include "analysis/results/analysis.h"
#include "analysis/time/counted_events.h"
#include "analysis/time/time_bins.h"

namespace fathom::analysis {

inline constexpr std::size_t kTimeBins = 50;  // of the analyses

// Exclusive ns of each function in each bin, summed over the processes; the last row is the
// program's own time, that of first threads outside all calls. At analysis process 0. Collective
// over the transport.
base::Result<BinCounts> time_by_bin(const CountedEvents& events, const TimeBins& bins);

// Messages and bytes per bin; the program's own and the library's hidden ones are separate.
enum MessageRow {
  kSentBytes,
  kSentMessages,
  kReceivedBytes,
  kReceivedMessages,
  kHiddenSentBytes,
  kHiddenSentMessages,
  kHiddenReceivedBytes,
  kHiddenReceivedMessages,
  kMessageRows
};

// A row for each MessageRow. At analysis process 0. Collective over the transport.
base::Result<BinCounts> messages_by_bin(const CountedEvents& events, const TimeBins& bins);

base::Result<Outcome> time_profile(const Input& input);
base::Result<Outcome> comm_over_time(const Input& input);

}  // namespace fathom::analysis
