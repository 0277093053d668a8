// SPDX-License-Identifier: BSD-3-Clause
// Counts one message seen by one witness: finds its class and adds it to the rows.
//
// Hot. Most messages repeat an earlier one on their communicator: same peer, class and length. The
// Live object remembers the rows of a few of these, so counting another is a handful of comparisons
// and three additions; any other message takes count_slowly(). Remembered rows hold while
// Counter::epoch() does not change: pausing, phases and several lanes send every message the slow
// way.
#pragma once

#include "profiler/counting/live_communicator.h"

namespace fathom::profiler {

// Also remembers the message's rows if they may be added to directly.
[[gnu::noinline]] void count_slowly(profile::Direction direction, Live& live, int tag, int peer,
                                    std::uint64_t bytes);

// Counts the message if it repeats an earlier one; otherwise returns false and counts nothing.
inline bool count_repeated(profile::Direction direction, Live& live, int tag, int peer,
                           std::uint64_t bytes) {
  const ClassId class_id = usual_class(live, tag);
  const Live::Remembered& same = live.remembered_for(direction, peer);
  if (same.who != Live::Remembered::name(peer, class_id, Counter::epoch()) || same.bytes != bytes)
      [[unlikely]] {
    return false;
  }
  same.cell->bytes += bytes;
  same.cell->messages += 1;
  same.size->messages += 1;
  return true;
}

// `tag` and `peer` as matched. MPI_PROC_NULL and tags of Fathom's own messages are not counted.
inline void count_message(profile::Direction direction, Live& live, int tag, int peer,
                          std::uint64_t bytes) {
  if (!count_repeated(direction, live, tag, peer, bytes)) [[unlikely]]
    count_slowly(direction, live, tag, peer, bytes);
}

}  // namespace fathom::profiler
