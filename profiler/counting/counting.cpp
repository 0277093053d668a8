// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/counting/counting.h"

#include "profiler/counting/partitioned.h"
#include "profiler/counting/profiled_process.h"

namespace fathom::profiler {

void count_slowly(profile::Direction direction, Live& live, int tag, int peer,
                  std::uint64_t bytes) {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process == nullptr || peer == openmpi::kProcNull) return;
  if (static_cast<std::uint32_t>(peer) >= Counter::kMaxPeers) return process->counter_lost();
  const ClassId class_id = classify(live, direction, tag, peer, bytes);
  if (class_id == kIgnored) return;
  if (class_id == kPartitioned) {  // its rows depend on the tag: they are not remembered
    const Partitioned::Place place = Partitioned::place_of(direction, live, peer, tag);
    process->counter().record(direction, place.kind, class_id, place.group,
                              static_cast<std::uint32_t>(place.peer), bytes);
    return;
  }
  if (class_id == kLibrary && tag >= 0) live.setup_is_over(direction, peer, tag);
  if (ChannelCounts* channels = process->channels(); channels != nullptr) [[unlikely]] {
    if (class_id == kPointToPoint && !process->counter().is_paused())
      channels->add(direction, live.kind, peer, tag, bytes);
  }
  const Counter::Touched rows = process->counter().record(
      direction, live.kind, class_id, live.group, static_cast<std::uint32_t>(peer), bytes);
  if (rows.cell == nullptr) return;
  live.remembered_for(direction, peer) = {Live::Remembered::name(peer, class_id, Counter::epoch()),
                                          bytes, rows.cell, rows.size};
}

}  // namespace fathom::profiler
