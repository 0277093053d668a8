// SPDX-License-Identifier: BSD-3-Clause
// The second of the two passes that find the waits of a job (wait_steps.h): backward, handing out
// the blame.
#pragma once

#include <cstdint>

#include "analysis/engine/joined_job.h"
#include "analysis/waits/wait_steps.h"
#include "analysis/waits/wait_tallies.h"

namespace fathom::analysis {

// After note_waits(). Adds the waits in scope, and who caused them, of own processes to `tallies`;
// returns how many times a process had to be let go on without its share of blame. Collective over
// the job's transport.
std::uint64_t hand_out_blame(JoinedJob& job, const WaitScope& scope, WaitTallies& tallies);

}  // namespace fathom::analysis
