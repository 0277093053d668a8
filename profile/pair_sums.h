// SPDX-License-Identifier: BSD-3-Clause
// Traffic summed by (source, destination).
//
// Memory follows the distinct pairs (a small multiple of them), however many blocks
// are added; time is that of sorting the rows. Sums wrap at 2^64, like the counters they add up.
#pragma once

#include <cstddef>
#include <vector>

#include "profile/profile.h"
#include "profile/selection.h"

namespace fathom::profile {

class PairSums {
 public:
  void add(const Traffic& traffic);
  void add(const PairCount& pair);

  // One entry for each pair that was added, ascending by (source, destination). Leaves this empty.
  std::vector<PairCount> take();

 private:
  void merge();

  std::vector<PairCount> pairs_;  // the first merged_ entries sorted, each pair once
  std::size_t merged_ = 0;
};

// The pairs of everything that `selection` admits.
std::vector<PairCount> sum_pairs(const Profile& profile, const Selection& selection = {});

// Both directions of each pair added up under source < destination. Self pairs stay as they are.
std::vector<PairCount> symmetrised(const std::vector<PairCount>& pairs);

}  // namespace fathom::profile
