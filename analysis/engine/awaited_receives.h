// SPDX-License-Identifier: BSD-3-Clause
// Marks the receives whose posting their senders waited for (kAwaited), and those sends.
//
// A sender waits for its receiver to post the receive where the wait states say so (a late receiver
// decided how long its call took, call_wait.h), and in MPI_Ssend and its kin, which wait at any
// length, also where the receive had been posted before. Other sends whose receive had been posted
// before are taken not to wait for it: whether they would have, only the library knows.
#pragma once

#include "analysis/engine/joined_job.h"

namespace fathom::analysis {

// Idempotent. Collective over the job's transport: one exchange. Cost: one pass over the steps.
void mark_awaited_receives(JoinedJob& job);

}  // namespace fathom::analysis
