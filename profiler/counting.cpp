#include "profiler/counting.h"

#include "profiler/session.h"

namespace fathom::profiler {

void count_slowly(profile::Direction direction, Live& live, int tag, int peer, std::uint64_t bytes) {
  Session* session = Session::active();
  if (session == nullptr) return;
  if (static_cast<std::uint32_t>(peer) >= Counter::kMaxPeers) return session->counter_lost();
  const ClassId class_id = classify(live, tag);
  if (class_id == kIgnored) return;
  const Counter::Touched rows = session->counter().record(
      direction, live.kind, class_id, live.group, static_cast<std::uint32_t>(peer), bytes);
  // Only a program's own messages: the class of others depends on more than the tag.
  if (class_id == kPointToPoint && rows.cell != nullptr) {
    live.remembered[static_cast<int>(direction)] = {peer, Counter::epoch(), bytes, rows.cell, rows.size};
  }
}

}  // namespace fathom::profiler
