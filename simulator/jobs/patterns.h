// SPDX-License-Identifier: BSD-3-Clause
// Synthetic traffic: common communication patterns. Every rank sends `bytes` in one message to each
// of its partners. How to add one: docs/adding-a-simulator-part.md.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "simulator/jobs/job.h"

namespace fathom::simulator {

// A row of the registry.
struct PatternRow {
  const char* name;
  const char* help;  // one line
  // The rank's partners, in any order; make_pattern() drops the rank itself and duplicates. No rank
  // has more than rank 0, which may have only itself where others have one.
  std::vector<std::int64_t> (*partners)(std::int64_t rank, std::int64_t ranks, std::uint64_t seed);
};

std::span<const PatternRow> patterns();
// An Error lists the known names.
base::Result<const PatternRow*> find_pattern(std::string_view name);

// The largest pattern: 2 GB.
inline constexpr double kMostPairs = 1 << 26;

// A job named after the pattern. Memory: all communicating pairs. An Error, before anything is made,
// if there is no rank, more than kMostRanks, or more than kMostPairs pairs.
base::Result<Job> make_pattern(const PatternRow& pattern, std::int64_t ranks, std::uint64_t bytes,
                               std::uint64_t seed);

}  // namespace fathom::simulator
