// SPDX-License-Identifier: BSD-3-Clause
// Reads the messages that have arrived but that no receive has matched, from pml/ob1's own queues.
//
// A message that is still there when its communicator is freed, or at MPI_Finalize, was never
// received. Without this proof, a message that its receiver did not count is only a difference
// (profile/witnesses.h). Other PMLs keep such messages where Fathom cannot read them.
//
// The queues are mca_pml_ob1_comm_proc_t::unexpected_frags, one per peer of a communicator
// (ompi/mca/pml/ob1/pml_ob1_comm.h). The class of each object is checked before its fields are
// used, and the start-up check compares the queues with known messages.
//
// Threading: call while no other thread receives on the communicator. If one does, the result may
// be wrong, but the call still ends. Cold: time grows with the size of the communicator.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/counting/profiled_process.h"

namespace fathom::profiler {

struct WaitingMessage {
  int source;
  int tag;
  std::uint64_t bytes;
};

// False, with `found` empty, if the queues of this communicator cannot be read.
bool find_waiting_messages(const void* comm, std::vector<WaitingMessage>& found);

// Makes progress until no more messages arrive. For MPI_Finalize, once all processes are there.
void let_messages_arrive(ProfiledProcess& process);

// Counts the waiting messages of a communicator as unreceived, if the start-up check could read the
// queues. Call it once per communicator, when it is freed or at MPI_Finalize: a second call would
// count the same messages again.
void count_unreceived(ProfiledProcess& process, const Live& live) noexcept;

}  // namespace fathom::profiler
