// SPDX-License-Identifier: BSD-3-Clause
// The cold half of profiler/counting/live_communicator.h: what the library sends with tags from the
// program's range, in constructors and to set up partitioned communication.
#include <algorithm>
#include <iterator>
#include <mutex>

#include "profiler/counting/live_communicator.h"

namespace fathom::profiler {
namespace {

std::mutex library_tags_lock;  // shared by all communicators; only constructors take it

// sizeof(struct ompi_mca_persist_setup_t) in Open MPI 5.0 and 6.0
// (ompi/mca/part/persist/part_persist_request.h).
constexpr std::uint64_t kSetupBytes[] = {32, 40};

bool is_free(const std::atomic<std::int32_t>& tag) { return tag.load(relaxed) < 0; }

}  // namespace

// As long as nothing is expected any more, tags decide nothing. Under the lock.
void Live::settle_program_class() {
  if (fixed_class.load(relaxed) != kNoClass) return;
  const bool depends = !setups.empty() || !std::ranges::all_of(library_tags, is_free);
  program_class.store(depends ? kNoClass : kPointToPoint, relaxed);
}

bool Live::add_library_tag(int tag) {
  const std::lock_guard guard(library_tags_lock);
  const auto free = std::ranges::find_if(library_tags, is_free);
  if (free == std::end(library_tags)) return false;
  free->store(tag, relaxed);
  settle_program_class();
  return true;
}

void Live::remove_library_tag(int tag) {
  const std::lock_guard guard(library_tags_lock);
  for (auto& known : library_tags) {
    if (known.load(relaxed) != tag) continue;
    known.store(-1, relaxed);
    break;
  }
  settle_program_class();
}

void Live::expect_setup(profile::Direction direction, int peer, int tag) {
  const std::lock_guard guard(library_tags_lock);
  setups.push_back({direction, peer, tag});
  settle_program_class();
}

bool Live::is_setup(profile::Direction direction, int peer, int tag, std::uint64_t bytes) const {
  if (std::ranges::find(kSetupBytes, bytes) == std::end(kSetupBytes)) return false;
  const std::lock_guard guard(library_tags_lock);
  return std::ranges::find(setups, Setup{direction, peer, tag}) != setups.end();
}

void Live::setup_is_over(profile::Direction direction, int peer, int tag) {
  const std::lock_guard guard(library_tags_lock);
  const auto found = std::ranges::find(setups, Setup{direction, peer, tag});
  if (found == setups.end()) return;
  setups.erase(found);
  settle_program_class();
}

}  // namespace fathom::profiler
