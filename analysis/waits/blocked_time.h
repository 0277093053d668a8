// SPDX-License-Identifier: BSD-3-Clause
// What a blocked call waits for: its peer, or the wire.
//
// Of a call that completes messages, the one that completes last decides (of MPI_Waitany and its
// kin the first). Until both ends are there (the other has entered the call that sends, or has
// posted its receive) the call waits for its peer; from then until the message is complete it waits
// for the wire, by which is meant all that lies between two processes that are ready: the network,
// the copies, and the library's work. Tests never wait. Works on every trace: sends and receives
// are joined from calls alone.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/scope/input.h"

namespace fathom::analysis {

// Blocked calls of one process that were decided by messages with one peer.
struct BlockedRow {
  std::uint32_t process = 0, peer = 0;
  bool receiving = false;
  std::uint64_t count = 0, peer_ns = 0, wire_ns = 0, most_wire_ns = 0;
  std::uint64_t bytes = 0;  // of the messages that decided
};

// At analysis process 0, sorted by process, peer and side. Calls entered in the scope's window, of
// its ranks. Collective over the job's transport.
std::vector<BlockedRow> blocked_time(JoinedJob& job, const Scope& scope);

}  // namespace fathom::analysis
