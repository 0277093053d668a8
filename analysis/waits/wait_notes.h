// SPDX-License-Identifier: BSD-3-Clause
// The first of two passes that find the waits of a job (wait_steps.h): each process on its own.
#pragma once

#include "analysis/engine/joined_job.h"
#include "analysis/waits/wait_causes.h"

namespace fathom::analysis {

// Finds the waits and stores in the steps:
//
//   `note` of a call             how long it waited, in ns
//   `call` of a call             the deciding step: what it waited for; kNobody: nothing
//   `wait_kind` of a call        in which way (WaitKind)
//   `note` of a deciding step    the call that waited for it, plus 1
//
// and kAwaited for the sends that waited for their receive to be posted, and for these receives.
// Adds the work between calls to `work`. Collective over the job's transport.
void note_waits(JoinedJob& job, WorkTally& work);

}  // namespace fathom::analysis
