#include "profiler/live.h"

#include <algorithm>
#include <iterator>
#include <mutex>

namespace fathom::profiler {
namespace {

std::mutex library_tags_lock;  // of all communicators; only constructors take it

constexpr auto relaxed = std::memory_order_relaxed;

bool is_free(const std::atomic<std::int32_t>& tag) { return tag.load(relaxed) < 0; }

}  // namespace

void Live::reset() {
  comm = group = nullptr;
  kind = 0;
  for (auto& direction : remembered) std::ranges::fill(direction, Remembered{});
  program_class.store(kPointToPoint, relaxed);
  fixed_class.store(kNoClass, relaxed);
  blocking_class.store(kNoClass, relaxed);
  nonblocking_class.store(kNoClass, relaxed);
  for (auto& tag : library_tags) tag.store(-1, relaxed);
  served.store(this, relaxed);
  nonblocking_tags.clear();
  persistent_tags.clear();
  modules_seen[0] = modules_seen[1] = 0;
  for (auto& module : bypassing_module) module = 0;
  retired = user_visible = is_world = false;
}

void Live::set_classes(ClassId hidden, ClassId program) {
  fixed_class.store(hidden, std::memory_order_relaxed);
  program_class.store(program, std::memory_order_relaxed);
}

bool Live::add_library_tag(int tag) {
  const std::lock_guard guard(library_tags_lock);
  const auto free = std::ranges::find_if(library_tags, is_free);
  if (free == std::end(library_tags)) return false;
  free->store(tag, relaxed);
  if (fixed_class.load(relaxed) == kNoClass) program_class.store(kNoClass, relaxed);
  return true;
}

void Live::remove_library_tag(int tag) {
  const std::lock_guard guard(library_tags_lock);
  for (auto& known : library_tags) {
    if (known.load(relaxed) != tag) continue;
    known.store(-1, relaxed);
    break;
  }
  if (fixed_class.load(relaxed) != kNoClass) return;
  if (std::ranges::all_of(library_tags, is_free)) program_class.store(kPointToPoint, relaxed);
}

bool Live::has_library_tag(int tag) const {
  const auto is_this = [tag](const auto& known) { return known.load(relaxed) == tag; };
  return std::ranges::any_of(library_tags, is_this);
}

ClassId classify_hidden(const Live& live, int tag) {
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
