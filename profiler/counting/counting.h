// SPDX-License-Identifier: BSD-3-Clause
// One message, seen by one witness: finds its class and adds it to the rows.
//
// Hot. Most messages repeat an earlier one on their communicator: the same peer, class and length.
// The rows of a few of these are remembered in the Live object, and counting another is a handful
// of comparisons and three additions; anything else takes count_slowly(). What is remembered holds
// as long as Counter::epoch() does not change: pausing, phases and several lanes make every message
// take the slow way.
#pragma once

#include "profiler/counting/live_communicator.h"

namespace fathom::profiler {

// Remembers the message if its rows may be added to directly.
void count_slowly(profile::Direction direction, Live& live, int tag, int peer, std::uint64_t bytes);

// Counts the message if it repeats an earlier one; false: it is not counted yet.
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

// `tag` and `peer` as matched. MPI_PROC_NULL and the tags of Fathom's own messages count nothing.
inline void count_message(profile::Direction direction, Live& live, int tag, int peer,
                          std::uint64_t bytes) {
  if (!count_repeated(direction, live, tag, peer, bytes)) [[unlikely]]
    count_slowly(direction, live, tag, peer, bytes);
}

}  // namespace fathom::profiler
