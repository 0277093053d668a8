// One message, seen by one witness: finds its class and adds it to the rows.
//
// Hot. Most messages of a program repeat the one before on their communicator: the same peer, the same
// length. For these the rows are remembered in the Live object, and counting one is four comparisons and
// three additions; anything else takes count_slowly(). What is remembered holds as long as
// Counter::epoch() does not change: pausing, phases and several lanes make every message take the slow way.
#pragma once

#include "profiler/live.h"

namespace fathom::profiler {

void count_slowly(profile::Direction direction, Live& live, int tag, int peer, std::uint64_t bytes);

// `tag` and `peer` as matched; tags of Fathom's own messages count nothing.
inline void count_message(profile::Direction direction, Live& live, int tag, int peer,
                          std::uint64_t bytes) {
  const Live::Remembered& last = live.remembered[static_cast<int>(direction)];
  if (last.peer == peer && last.bytes == bytes && last.epoch == Counter::epoch() && tag >= 0 &&
      tag != live.library_tag.load(std::memory_order_relaxed)) [[likely]] {
    last.cell->bytes += bytes;
    last.cell->messages += 1;
    last.size->messages += 1;
    return;
  }
  count_slowly(direction, live, tag, peer, bytes);
}

}  // namespace fathom::profiler
