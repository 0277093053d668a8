// SPDX-License-Identifier: BSD-3-Clause
// The second of two passes that find the waits of a job (wait_steps.h): backward, distributing the
// blame.
#pragma once

#include <cstdint>

#include "analysis/engine/joined_job.h"
#include "analysis/waits/wait_steps.h"
#include "analysis/waits/wait_tallies.h"

namespace fathom::analysis {

// Call after note_waits(). Adds to `tallies` the waits of own processes that are in scope, and
// their causes. Returns how often a process was released without its share of blame. Collective
// over the job's transport.
std::uint64_t hand_out_blame(JoinedJob& job, const WaitScope& scope, WaitTallies& tallies);

}  // namespace fathom::analysis
