// SPDX-License-Identifier: BSD-3-Clause
// Marks the receives whose posting their senders waited for (kAwaited), and those sends.
//
// A sender waits for its receiver to post the receive if the wait states say so (a late receiver
// determined the duration of its call, call_wait.h). MPI_Ssend and its variants, which wait at any
// length, also wait if the receive had already been posted. For other sends whose receive had
// already been posted we assume that they did not wait: only the library knows.
#pragma once

#include "analysis/engine/joined_job.h"
#include "analysis/engine/parcels.h"

namespace fathom::analysis {

// Idempotent. Collective over the job's transport: one exchange. Cost: one pass over the steps.
void mark_awaited_receives(JoinedJob& job);

// Marks a send that waited, and the receive at its other end: at once if this analysis process owns it, else through
// `parcels`, which brings take_awaited_mark() to its owner.
void mark_awaited(JoinedJob& job, Step& send, Parcels& parcels);
void take_awaited_mark(JoinedJob& job, Received& received);

}  // namespace fathom::analysis
