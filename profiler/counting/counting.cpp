// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/counting/counting.h"

#include "profiler/counting/profiled_process.h"

namespace fathom::profiler {

void count_slowly(profile::Direction direction, Live& live, int tag, int peer,
                  std::uint64_t bytes) {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process == nullptr || peer == openmpi::kProcNull) return;
  if (static_cast<std::uint32_t>(peer) >= Counter::kMaxPeers) return process->counter_lost();
  const ClassId class_id = classify(live, tag);
  if (class_id == kIgnored) return;
  const Counter::Touched rows = process->counter().record(
      direction, live.kind, class_id, live.group, static_cast<std::uint32_t>(peer), bytes);
  if (rows.cell == nullptr) return;
  live.remembered_for(direction, peer) = {Live::Remembered::name(peer, class_id, Counter::epoch()),
                                          bytes, rows.cell, rows.size};
}

}  // namespace fathom::profiler
