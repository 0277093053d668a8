// SPDX-License-Identifier: BSD-3-Clause
// Compares the two witnesses of each message: its sender and its receiver.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "profile/pair_cells.h"
#include "profile/profile.h"

namespace fathom::profile {

// Fills in the sums of `coverage.sent` and `coverage.received`, and compares each pair of processes
// that both reported. Messages still waiting at the receiver go into `unreceived`: they were sent
// and never received. Pairs that still disagree go into `differences`: a message that the receiver
// neither counted nor saw waiting may have been under way, or received without being counted. Cells
// that are not `counted_twice` (posted operations) are left out. With a single witness there are no
// differences.
void compare_witnesses(const std::vector<PairCell>& cells,
                       const std::function<bool(const PairCell&)>& counted_twice,
                       const std::function<bool(std::int64_t)>& has_reported, Coverage& coverage);

}  // namespace fathom::profile
