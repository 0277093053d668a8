// SPDX-License-Identifier: BSD-3-Clause
// Traffic summed by (source, destination).
//
// Memory is a small multiple of the distinct pairs, however many blocks are added; time is that of
// sorting the rows. Sums wrap at 2^64, like the counters they add up.
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

  // One entry for each pair that was added, in order of (source, destination). Empties this object.
  std::vector<PairCount> take();

 private:
  void merge();

  std::vector<PairCount> pairs_;  // the first merged_ entries sorted, each pair once
  std::size_t merged_ = 0;
};

// Sums the pairs of all traffic that `selection` admits.
std::vector<PairCount> sum_pairs(const Profile& profile, const Selection& selection = {});

// Whether the two world ranks are known to have run on the same host.
bool on_one_host(const Header& header, std::int64_t one, std::int64_t other);

// Adds up both directions of each pair under source < destination. Self pairs stay as they are.
std::vector<PairCount> symmetrised(const std::vector<PairCount>& pairs);

}  // namespace fathom::profile
