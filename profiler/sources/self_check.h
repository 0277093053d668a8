// SPDX-License-Identifier: BSD-3-Clause
// Proves, before anything is counted, that this MPI library's structures have the expected layout.
//
// Sends known messages to this process on a private duplicate of MPI_COMM_SELF, or of a communicator
// like it (blocking, non-blocking and persistent, empty and large, with wildcards, with a receive
// freed early and one waited for late) and compares what each witness counted with what was sent.
// Then it compares the unexpected queue with messages that are not received yet.
#pragma once

#include <string>

#include "profiler/openmpi/mpi.h"

namespace fathom::profiler {

class ProfiledProcess;

struct SelfCheck {
  bool sent = false;      // the sends were counted to the byte
  bool received = false;  // so were the receives
  bool waiting = false;   // the unexpected queue held exactly the messages not received yet
  std::string detail;     // what was counted instead, for the profile
};

// Leaves the tables of `process` empty. The PML must be hooked and the process active. `self`: a
// communicator of this process alone.
SelfCheck check_counting(ProfiledProcess& process, MPI_Comm self);

}  // namespace fathom::profiler
