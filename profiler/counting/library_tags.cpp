// SPDX-License-Identifier: BSD-3-Clause
// The cold half of profiler/counting/live_communicator.h: constructors that send with tags from the
// program's range.
#include <algorithm>
#include <iterator>
#include <mutex>

#include "profiler/counting/live_communicator.h"

namespace fathom::profiler {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

std::mutex library_tags_lock;  // shared by all communicators; only constructors take it

bool is_free(const std::atomic<std::int32_t>& tag) { return tag.load(relaxed) < 0; }

}  // namespace

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

}  // namespace fathom::profiler
