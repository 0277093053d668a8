// SPDX-License-Identifier: BSD-3-Clause
// How many messages wait in a process's queue of unexpected messages, and how many receives are posted
// and unmatched.
//
// These are lists in the memory of the MPI library there, of Open MPI's pml/ob1 alone. The process says
// once where they are, if it has proved it (QueueFacts in live/page.h), and the reader copies their
// lengths with process_vm_readv(2): the process does nothing for it and is not stopped. Messages and
// receives inside collectives count too, Fathom's own messages do not: they are found by their tags. What
// MPI_T calls pml_ob1_unexpected_msgq_length is the same, with these, of one communicator and peer.
//
// Nothing that is read is trusted: an address that does not exist is an error of the system call, and the
// class of each object must be the right one, as it is unless the communicator has just been freed. The
// lengths are not of one moment: each is read some microseconds after the one before.
//
// Cost: a system call for each communicator, for each 512 of its peers with which the process has
// exchanged messages, and for each of the first kMostLooks messages of a peer.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "live/job_state.h"

namespace fathom::live {

// QueueFacts, and the places that are in use, as copied from a page.
struct QueuesCopy {
  bool are_there = false;  // what follows is set
  bool is_complete = true;
  std::uint64_t communicator_class = 0, list_class = 0;
  std::uint32_t wild_receives = 0, peers = 0, peer_count = 0, receives = 0, unexpected = 0,
                length = 0, end = 0, next = 0, tag = 0;
  std::int32_t lowest_own_tag = 0;
  std::vector<std::uint64_t> places;
};

// Zeros unless `access` is kRead.
struct QueueLengths {
  std::uint64_t unexpected = 0, posted = 0;
  QueueAccess access = QueueAccess::kUnknown;
  bool is_too_large = false;  // there is more than a reader looks at: it would be the same again
};

// More peers than this, of all communicators, are not looked at.
inline constexpr std::uint64_t kMostPeers = 1u << 18;
// The tags of further messages of a peer are not looked at. Most of Fathom's own were sent first, in
// MPI_Init; those that compare clocks wait for a moment only.
inline constexpr std::uint64_t kMostLooks = 16;
// With more looks than this, at the messages of all peers, the lengths are not known.
inline constexpr std::uint64_t kMostLooksInAll = 1u << 16;

// The lengths of the queues of process `pid` at this moment.
QueueLengths read_queues(pid_t pid, const QueuesCopy& queues);

}  // namespace fathom::live
