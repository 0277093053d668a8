// The messages that have arrived and that no receive has asked for, read in pml/ob1's own queues.
//
// What still waits there when its communicator goes, or at MPI_Finalize, was never received: the
// proof without which nobody is accused (profile/witnesses.h). Other PMLs keep such messages where
// they cannot be seen.
//
// The queues are mca_pml_ob1_comm_proc_t::unexpected_frags, one for each peer of a communicator
// (ompi/mca/pml/ob1/pml_ob1_comm.h). Each object on the way there has to be of the class that it
// should be before anything behind it is looked at, and the check at start-up reads known messages.
//
// Threading: while no other thread receives on the communicator. Cold; time follows its size.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/session.h"

namespace fathom::profiler {

struct WaitingMessage {
  int source;
  int tag;
  std::uint64_t bytes;
};

// False, with nothing in `found`, where the queues of this communicator cannot be read.
bool find_waiting_messages(const void* comm, std::vector<WaitingMessage>& found);

// At MPI_Finalize, when all processes are there: makes progress until no more messages arrive.
void let_messages_arrive(Session& session);

// Counts what waits on the communicator as unreceived, if the check at start-up has read the
// queues. None of the messages may be counted twice, so: when the communicator goes, or at the end.
void count_unreceived(Session& session, const Live& live) noexcept;

}  // namespace fathom::profiler
