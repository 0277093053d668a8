// SPDX-License-Identifier: BSD-3-Clause
// Message sizes of each rank, in powers of two. A profile has them only for all ranks together; a
// trace has them for each.
//
// Bin 0 holds empty messages, bin b those of 2^(b-1) to 2^b - 1 bytes. A message counts at its
// sender and at its receiver, each where it was recorded. One pass over the trace, made by every
// analysis process itself.
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
  std::uint32_t message_class = 0;  // index in the trace's definitions
  bool sent = false;
  std::array<std::uint64_t, kSizeBins> messages{}, bytes{};
};

// For the scope's ranks and time: by rank, class, received before sent; only rows with messages.
std::vector<RankSizes> rank_sizes(const trace::Trace& trace, const Scope& scope);

base::Result<Outcome> rank_histograms(const Input& input);

}  // namespace fathom::analysis
