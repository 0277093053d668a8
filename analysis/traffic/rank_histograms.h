// SPDX-License-Identifier: BSD-3-Clause
// How long the messages of each rank are, in powers of two: what a profile keeps for all ranks
// together, a trace knows for each.
//
// Bin 0 holds empty messages, bin b those of 2^(b-1) to 2^b - 1 bytes. A message counts at its
// sender and at its receiver, each where it was recorded. One pass over the trace; every analysis
// process makes it by itself.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/results/analysis.h"

namespace fathom::analysis {

inline constexpr std::size_t kSizeBins = 65;

struct RankSizes {
  std::int64_t rank = 0;
  std::uint32_t message_class = 0;  // of the trace's definitions
  bool sent = false;
  std::array<std::uint64_t, kSizeBins> messages{}, bytes{};
};

// Of the scope's ranks and time, by rank, class, received before sent; only those with messages.
std::vector<RankSizes> rank_sizes(const trace::Trace& trace, const Scope& scope);

base::Result<Outcome> rank_histograms(const Input& input);

}  // namespace fathom::analysis
