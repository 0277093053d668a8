#include "profiler/live.h"

namespace fathom::profiler {

void Live::reset() {
  constexpr auto relaxed = std::memory_order_relaxed;
  comm = group = nullptr;
  kind = 0;
  for (auto& last : remembered) last = {};
  fixed_class.store(kNoClass, relaxed);
  blocking_class.store(kNoClass, relaxed);
  nonblocking_class.store(kNoClass, relaxed);
  library_tag.store(-1, relaxed);
  served.store(this, relaxed);
  nonblocking_tags.clear();
  persistent_tags.clear();
  modules_seen[0] = modules_seen[1] = 0;
  for (auto& module : bypassing_module) module = 0;
  retired = user_visible = false;
}

ClassId classify_hidden(const Live& live, int tag) {
  constexpr auto relaxed = std::memory_order_relaxed;
  if (tag > openmpi::kTagAllgather) return kIgnored;
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
