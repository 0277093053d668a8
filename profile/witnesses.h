// SPDX-License-Identifier: BSD-3-Clause
// The two witnesses of each message, its sender and its receiver, held against each other.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "profile/pair_cells.h"
#include "profile/profile.h"

namespace fathom::profile {

// Fills in the sums of `coverage.sent` and `coverage.received`, and compares each pair of processes
// that both reported. What the receiver saw waiting goes into `unreceived`: it was sent and never
// received. Pairs that still disagree go into `differences`: a message that the receiver neither
// counted nor saw waiting may have been under way, or received without being counted. Cells that
// are not `counted_twice` (posted operations) are left out. With one witness alone there are no
// differences.
void compare_witnesses(const std::vector<PairCell>& cells,
                       const std::function<bool(const PairCell&)>& counted_twice,
                       const std::function<bool(std::int64_t)>& has_reported, Coverage& coverage);

}  // namespace fathom::profile
