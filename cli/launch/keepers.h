// SPDX-License-Identifier: BSD-3-Clause
// The keepers of a job's flight recorders (profiler/keeper/), which end after the ranks they keep.
#pragma once

namespace fathom::cli {

// Returns when those on this host have written what they keep, which takes some milliseconds, or
// after half a minute. They are children of this process, because it takes in the job's orphans.
void wait_for_keepers();

}  // namespace fathom::cli
