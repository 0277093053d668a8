// The two witnesses of each message, its sender and its receiver, held against each other.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "profile/pair_cells.h"
#include "profile/profile.h"

namespace fathom::profile {

// Fills in the sums of `coverage.sent` and `received`, and, of pairs of which both ends reported,
// where they differ: in `unreceived` what the receiver saw waiting, for that was sent and never
// received; in `differences` the pairs on which something else is missing as well, on either side. A
// message that the receiver neither counted nor saw waiting proves nothing: it may have been on its
// way, or received uncounted. Cells that are not `counted_twice` (one-sided operations) are left out.
// With one witness alone there are no differences.
void compare_witnesses(const std::vector<PairCell>& cells, const std::function<bool(const PairCell&)>& counted_twice,
                       const std::function<bool(std::int64_t)>& has_reported, Coverage& coverage);

}  // namespace fathom::profile
