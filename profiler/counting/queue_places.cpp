// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/counting/queue_places.h"

#include <cstdint>
#include <vector>

#include "live/page.h"
#include "rankmap/communicator_view.h"

namespace fathom::profiler {
namespace {

using rankmap::field;

constexpr std::size_t kMostQueuePlaces = 1u << 16;

// Never destroyed: readers may look at any time.
struct ShownQueues {
  base::ReservedArray<live::QueueFacts> facts;
  base::ReservedArray<live::QueuePlace> places;
  std::vector<live::QueuePlace*> free;  // has room for all of them
};
ShownQueues* shown = nullptr;

live::QueuePlace* take_place() {
  if (!shown->free.empty()) {
    live::QueuePlace* place = shown->free.back();
    shown->free.pop_back();
    return place;
  }
  shown->free.reserve(shown->places.size() + 1);
  return shown->places.append();
}

void show(Live& live) noexcept try {
  if (live.queue_place != nullptr || live.is_left_out_of_queues) return;
  const auto* queues = field<const void*>(live.comm, openmpi::layout().comm_pml);
  if (queues == nullptr) return;
  live.is_left_out_of_queues = true;
  shown->facts[0].left_out.fetch_add(1);
  live.queue_place = take_place();
  if (live.queue_place == nullptr) return;
  live.queue_place->is_used = 1;
  live.queue_place->queues.store(reinterpret_cast<std::uintptr_t>(queues));
  shown->facts[0].left_out.fetch_sub(1);
  live.is_left_out_of_queues = false;
} catch (...) {  // no memory: it is left out, and readers know that
}

void hide(Live& live) {
  if (live.is_left_out_of_queues) shown->facts[0].left_out.fetch_sub(1);
  live.is_left_out_of_queues = false;
  if (live.queue_place == nullptr) return;
  live.queue_place->queues.store(0);
  shown->free.push_back(live.queue_place);
  live.queue_place = nullptr;
}

}  // namespace

void show_queues(base::SharedMemory& shared, Communicators& communicators, const void* world) {
  const auto* queues = field<const char*>(world, openmpi::layout().comm_pml);
  auto* made = new ShownQueues;
  live::QueueFacts* facts =
      queues != nullptr && made->facts.reserve(1, &shared, live::kQueueFacts) &&
              made->places.reserve(kMostQueuePlaces, &shared, live::kQueuePlaces)
          ? made->facts.append()
          : nullptr;
  if (facts == nullptr) {
    delete made;
    return;
  }
  const auto class_of = [](const char* object) {
    return field<std::uint64_t>(object, openmpi::kObjectClass);
  };
  facts->communicator_class = class_of(queues);
  facts->list_class = class_of(queues + openmpi::kOb1WildReceives);
  facts->wild_receives = static_cast<std::uint32_t>(openmpi::kOb1WildReceives);
  facts->peers = static_cast<std::uint32_t>(openmpi::kOb1Peers);
  facts->peer_count = static_cast<std::uint32_t>(openmpi::kOb1PeerCount);
  facts->receives = static_cast<std::uint32_t>(openmpi::kOb1Posted);
  facts->unexpected = static_cast<std::uint32_t>(openmpi::kOb1Unexpected);
  facts->length = static_cast<std::uint32_t>(openmpi::kListLength);
  facts->end = static_cast<std::uint32_t>(openmpi::kListEnd);
  facts->next = static_cast<std::uint32_t>(openmpi::kListNext);
  facts->tag = static_cast<std::uint32_t>(openmpi::kOb1MessageTag);
  facts->lowest_own_tag = kLowestOwnTag;
  shown = made;
  communicators.set_watchers(show, hide);
  facts->is_used = 1;
}

}  // namespace fathom::profiler
