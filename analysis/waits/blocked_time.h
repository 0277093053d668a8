// SPDX-License-Identifier: BSD-3-Clause
// What a blocked call waits for: its peer, or the wire.
//
// If a call completes several messages, the one that completes last decides (MPI_Waitany and its
// variants: the first). The call waits for its peer until both ends are present (the other has
// entered the sending call, or has posted its receive). From then until the message is complete it
// waits for the wire: everything between two ready processes, that is the network, the copies, and
// the library's work. Tests never wait. Works on every trace: sends and receives are joined from
// calls alone.
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
  std::uint64_t bytes = 0;  // of the deciding messages
};

// At analysis process 0, sorted by process, peer and side. Covers calls of the scope's ranks
// entered in its window. Collective over the job's transport.
std::vector<BlockedRow> blocked_time(JoinedJob& job, const Scope& scope);

}  // namespace fathom::analysis
