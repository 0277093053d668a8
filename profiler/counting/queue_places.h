// SPDX-License-Identifier: BSD-3-Clause
// Tells readers of a running job where pml/ob1 keeps the queues of each communicator (QueueFacts and
// QueuePlace in live/page.h), which they then read by themselves.
//
// Only while the job is watched, and only if the start-up check has read the queues there. Nothing
// happens here for a message: a place is written when a communicator is made or freed. Threading: cold;
// as Communicators, under its lock.
#pragma once

#include "base/reserved_array.h"
#include "profiler/counting/communicators.h"

namespace fathom::profiler {

// For the rest of the process. `world`: any communicator of the process. Without room, readers do not
// know the queues.
void show_queues(base::SharedMemory& shared, Communicators& communicators, const void* world);

}  // namespace fathom::profiler
