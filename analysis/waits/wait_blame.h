// SPDX-License-Identifier: BSD-3-Clause
// The second of two passes that find the waits of a job (wait_steps.h): all processes in causal
// order, to find out who caused the waits. Each wait is divided by equations (3) to (5) of docs/analysis.md,
// "The rule in equations" (delay_stack.h); this sums up the parts, as (7) there, and empties stacks, as (2) says.
#pragma once

#include <cstdint>

#include "analysis/engine/joined_job.h"
#include "analysis/waits/wait_steps.h"
#include "analysis/waits/wait_tallies.h"

namespace fathom::analysis {

// Call after note_waits(). Adds to `tallies` the waits of own processes that are in scope, and what
// own processes caused. Returns how often a process went on without what delayed another, because
// times contradict each other. Collective over the job's transport.
std::uint64_t find_origins(JoinedJob& job, const WaitScope& scope, WaitTallies& tallies);

}  // namespace fathom::analysis
