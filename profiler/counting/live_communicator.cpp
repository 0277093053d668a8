// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/counting/live_communicator.h"

#include <algorithm>

namespace fathom::profiler {

void Live::reset() {
  comm = group = nullptr;
  kind = 0;
  for (auto& direction : remembered) std::ranges::fill(direction, Remembered{});
  program_class.store(kPointToPoint, relaxed);
  fixed_class.store(kNoClass, relaxed);
  blocking_class.store(kNoClass, relaxed);
  nonblocking_class.store(kNoClass, relaxed);
  for (auto& tag : library_tags) tag.store(-1, relaxed);
  setups.clear();
  served.store(this, relaxed);
  nonblocking_tags.clear();
  persistent_tags.clear();
  modules_seen[0] = modules_seen[1] = 0;
  for (auto& module : bypassing_module) module = 0;
  retired = user_visible = is_world = false;
  neighbors = kNotAsked;
}

void Live::set_classes(ClassId hidden, ClassId program) {
  fixed_class.store(hidden, std::memory_order_relaxed);
  program_class.store(program, std::memory_order_relaxed);
}

ClassId classify_hidden(const Live& live, int tag) {
  if (tag >= kLowestOwnTag) return kIgnored;
  if (tag > openmpi::kTagAllgather) return kLibrary;
  const Live* served = live.served.load(relaxed);
  const ClassId blocking = served->blocking_class.load(relaxed);
  if (tag >= openmpi::kTagScatterv) {
    return blocking != kNoClass ? blocking : blocking_class_of_tag(tag);
  }
  if (tag > openmpi::kTagNonblockingEnd) {
    ClassId reserved = live.nonblocking_tags.find(tag);
    if (reserved == kNoClass) reserved = live.persistent_tags.find(tag);
    if (reserved != kNoClass) return reserved;
    const ClassId starting = live.nonblocking_class.load(relaxed);
    if (starting != kNoClass && tag <= live.nonblocking_first_tag.load(relaxed)) return starting;
    const bool own_call = served == &live;
    if (own_call && tag > live.blocking_first_tag.load(relaxed)) return kLibrary;
  }
  return blocking != kNoClass ? blocking : kLibrary;
}

}  // namespace fathom::profiler
