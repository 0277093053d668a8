// SPDX-License-Identifier: BSD-3-Clause
// Message sizes by class: counts, bytes, and both cumulative.
//
// Sizes are exact if the profile has them exactly. A log2 bin [low, 2 * low) of the profile stays
// one bin; its bytes are estimated with the bin's middle, 1.5 * low.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/results/analysis.h"
#include "profile/profile.h"

namespace fathom::analysis {

struct SizeRow {
  std::uint64_t low = 0, high = 0;  // bytes; equal if the size is exact
  std::uint64_t messages = 0;
  double bytes = 0;
  double messages_up_to = 0;  // share of the class's messages of this size or less
  double bytes_up_to = 0;     // share of its bytes
};

struct ClassHistogram {
  std::string class_name;
  bool hidden = false;
  std::vector<SizeRow> rows;  // ascending
};

ClassHistogram histogram_of(const profile::MessageSizes& sizes);

// All classes together, as shares of all messages and bytes of the profile.
std::vector<SizeRow> histogram_of_all(const profile::Profile& profile);

// Messages below `limit_bytes` and their bytes. A bin counts as small only if all of it is.
struct SmallMessages {
  std::uint64_t messages = 0, of_messages = 0;
  double bytes = 0, of_bytes = 0;
};
SmallMessages small_messages(const std::vector<SizeRow>& rows, double limit_bytes);

base::Result<Outcome> histograms(const Input& input);

}  // namespace fathom::analysis
