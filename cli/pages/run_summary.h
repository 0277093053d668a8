// SPDX-License-Identifier: BSD-3-Clause
// The figures of one run that `fathom report` shows, as text and as JSON.
//
// Read as a stream: memory follows the pairs that talked, not the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/summary.h"

namespace fathom::cli {

// Messages of low..high bytes. Sizes that the profile has in log2 bins only are spread over no more
// than the bin they stand in.
struct SizeBin {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t messages = 0;
};

struct BusiestRank {
  std::int64_t rank = 0;
  profile::Volume volume;
};

struct RunSummary {
  profile::Header header;
  std::optional<std::string> class_name;  // set: everything below is of this class only

  std::int64_t ranks = 0;
  std::size_t hosts = 0;
  profile::Volume total;
  profile::Volume hidden;                    // the part sent by the library on the program's behalf
  std::vector<profile::ClassTotal> classes;  // most bytes first
  std::vector<SizeBin> sizes;                // log2 bins from the smallest to the largest in use
  std::uint64_t tiny_messages = 0;           // of at most kTinyBytes
  std::string tiny_class;                    // the class with most of them
  std::size_t pairs = 0;  // ordered pairs that talked, a rank with itself included
  std::vector<profile::PairCount> top_pairs;  // by bytes
  std::vector<BusiestRank> top_senders;       // by bytes
  std::vector<BusiestRank> top_receivers;
  double imbalance_sent = 0;  // most bytes sent by a rank over the mean of all ranks
  double imbalance_received = 0;
  double density = 0;             // of the ordered pairs of different ranks, the part that talked
  profile::Volume between_hosts;  // only where the host of both ranks is known
};

inline constexpr std::uint64_t kTinyBytes = 64;

// `top` limits the lists of pairs and ranks. An Error if the file is unreadable, or names the
// classes there are if `class_name` is none of them.
base::Result<RunSummary> summarise(const std::string& profile_path,
                                   const std::optional<std::string>& class_name, std::size_t top);

}  // namespace fathom::cli
