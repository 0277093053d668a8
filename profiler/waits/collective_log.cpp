// SPDX-License-Identifier: BSD-3-Clause
// Collectives in the log of waits: the sequences of communicators, and those of windows and files, in
// which a call has its place even while nothing else is noted of it. A place that one member skipped
// would shift all that follow.
#include <atomic>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "mpi/meaning.h"
#include "profiler/waits/wait_log.h"
#include "rankmap/communicator_view.h"
#include "rankmap/layouts/all.h"

namespace fathom::profiler {
namespace {

using FreeFunction = int (*)(void**);
using rankmap::field_ref;
using rankmap::is_complete;

constexpr std::uint32_t kNoForm = ~0u;

// Non-blocking collectives in progress, by request.
struct Pending {
  std::uint64_t part, facts;
  FreeFunction free;
};
std::mutex pending_lock;
std::unordered_map<const void*, Pending>& pending_collectives() {
  static auto* pending = new std::unordered_map<const void*, Pending>;  // outlives every caller
  return *pending;
}

// The sequences of windows and files, by handle.
std::mutex objects_lock;
std::unordered_map<const void*, ChannelKey>& objects() {
  static auto* all = new std::unordered_map<const void*, ChannelKey>;  // outlives every caller
  return *all;
}

// Persistent collectives, by request, and how many were made on each communicator.
struct Persistent {
  ChannelKey key;
  std::uint64_t facts;
  Part active;  // the start that is not complete
};
std::mutex persistent_lock;
struct AllPersistent {
  std::unordered_map<const void*, Persistent> by_request;
  std::unordered_map<std::uint32_t, std::int32_t> made_on;
};
AllPersistent& all_persistent() {
  static auto* all = new AllPersistent;  // outlives every caller
  return *all;
}

// Each window, file and persistent collective takes a channel and a chunk of times, which messages need,
// too, and a program may make one in each step: those that come after the first kMost are not followed.
// Other processes may follow others; what one of them lacks is unknown, never wrong.
bool may_follow() {
  static std::atomic<std::uint32_t> followed{0};
  constexpr std::uint32_t kMost = 2048;
  return followed.load(std::memory_order_relaxed) < kMost &&
         followed.fetch_add(1, std::memory_order_relaxed) < kMost;
}

}  // namespace

void WaitLog::collective(std::uint32_t communicator, int root, void* request) {
  const std::uint32_t function = own_.function;
  own_.made_at = Part::kUnknown;
  if (!in_sequence_[function] || communicator == profile::kNoCommunicator) return;
  const Part place =
      appended({communicator, ChannelKind::kCollectives, -1, 0}, nullptr, own_.entered);
  own_.made_on = communicator;
  own_.made_at = place.bits;
  const std::uint64_t part = place.bits;
  const std::uint64_t facts =
      kIsFacts | std::uint64_t{function} << 32 | std::uint64_t{static_cast<std::uint32_t>(root)};
  if (request == nullptr) {
    completed({part});
    completed({facts});
    return;
  }
  try {
    auto& free = field_ref<FreeFunction>(request, openmpi::kRequestFree);
    if (free == on_collective_freed) return;
    const std::lock_guard guard(pending_lock);
    pending_collectives()[request] = {part, facts, free};
    free = on_collective_freed;
  } catch (...) {  // without memory its wait stays unknown
  }
}

void WaitLog::passed_collective(std::uint32_t function, std::uint32_t communicator) {
  own_.made_at = Part::kUnknown;
  if (!in_sequence_[function] || communicator == profile::kNoCommunicator) return;
  own_.made_on = communicator;
  own_.made_at =
      appended({communicator, ChannelKind::kCollectives, -1, 0}, nullptr, Ticks::now()).bits;
}

void WaitLog::constructed(std::uint32_t function, std::uint32_t communicator) {
  completed(appended({communicator, ChannelKind::kCollectives, -1, ChannelKey::kConstruction},
                     nullptr, moment()));
  completed({kIsFacts | std::uint64_t{function} << 32 | ~std::uint32_t{0}});
}

void WaitLog::object_made(const void* handle) try {
  const Part made{own_.made_at};
  constexpr std::uint64_t kMostObjects = 0x7ffffffe;
  if (handle == nullptr || !made.is_known() || made.ordinal() > kMostObjects) return;
  const std::lock_guard guard(objects_lock);
  objects().erase(handle);
  if (!may_follow()) return;
  objects()[handle] = {own_.made_on, ChannelKind::kCollectives, -1,
                       static_cast<std::int32_t>(made.ordinal() + 1)};
} catch (...) {  // without memory its waits stay unknown
}

// The sequence of a window or file, with kNoCommunicator if nobody saw it made.
ChannelKey WaitLog::sequence_of(const void* handle, bool frees) {
  const std::lock_guard guard(objects_lock);
  const auto found = objects().find(handle);
  if (found == objects().end()) return {profile::kNoCommunicator};
  const ChannelKey key = found->second;
  if (frees) objects().erase(found);
  return key;
}

Part WaitLog::next_in(const ChannelKey& key, std::uint64_t ticks) {
  if (key.communicator == profile::kNoCommunicator) return {Part::kUnknown};
  return appended(key, nullptr, ticks);
}

// Before the call, after which another thread may make an object at the same address.
void WaitLog::frees_object(const void* handle) { own_.freed = sequence_of(handle, true); }

void WaitLog::collective_on(const void* handle, bool has_request) {
  const std::uint32_t function = own_.function;
  if (on_object_[function] == OnObject::kNo) return;
  const bool frees = on_object_[function] == OnObject::kFrees;
  const Part part = next_in(frees ? own_.freed : sequence_of(handle, false), own_.entered);
  if (!part.is_known() || has_request) return;
  completed(part);
  completed({kIsFacts | std::uint64_t{function} << 32 | ~std::uint32_t{0}});
}

void WaitLog::passed_collective_on(std::uint32_t function, const void* handle) {
  if (on_object_[function] == OnObject::kNo) return;
  next_in(sequence_of(handle, on_object_[function] == OnObject::kFrees), Ticks::now());
}

// For each persistent collective the number of the blocking form, whose meaning is theirs.
void WaitLog::find_blocking_forms(const char* const* names, std::uint32_t functions) {
  for (std::uint32_t i = 0; i < functions; ++i) {
    blocking_form_[i] = kNoForm;
    const mpi::Meaning& meaning = mpi::meaning_of(names[i]);
    if (!meaning.persistent() || meaning.collective == mpi::Collective::kNone) continue;
    const std::string_view blocking = mpi::name_of(meaning.collective);
    for (std::uint32_t form = 0; form < functions; ++form)
      if (blocking == names[form]) blocking_form_[i] = form;
  }
}

void WaitLog::persistent_made(std::uint32_t function, std::uint32_t communicator, int root,
                              const void* request) try {
  if (communicator == profile::kNoCommunicator || request == nullptr) return;
  const std::lock_guard guard(persistent_lock);
  const std::int32_t number = --all_persistent().made_on[communicator];
  all_persistent().by_request.erase(request);
  if (blocking_form_[function] == kNoForm || !may_follow()) return;
  const std::uint64_t facts = kIsFacts | std::uint64_t{blocking_form_[function]} << 32 |
                              std::uint64_t{static_cast<std::uint32_t>(root)};
  all_persistent().by_request[request] = {
      {communicator, ChannelKind::kCollectives, -1, number}, facts, {Part::kUnknown}};
  has_persistent_.store(true, std::memory_order_relaxed);
} catch (...) {  // without memory its waits stay unknown
}

void WaitLog::persistent_started(int count, void* const* requests, std::uint64_t ticks) {
  const std::lock_guard guard(persistent_lock);
  for (int i = 0; i < count; ++i) {
    const auto found = all_persistent().by_request.find(requests[i]);
    if (found == all_persistent().by_request.end()) continue;
    found->second.active = appended(found->second.key, nullptr, ticks);
    if (is_complete(requests[i])) continue;
    auto& callback = field_ref<int (*)(void*)>(requests[i], openmpi::kRequestCallback);
    if (callback == nullptr) callback = on_persistent_collective_completed;
  }
}

void WaitLog::persistent_freed(const void* request) {
  const std::lock_guard guard(persistent_lock);
  all_persistent().by_request.erase(request);
  if (all_persistent().by_request.empty()) has_persistent_.store(false, std::memory_order_relaxed);
}

// The present call may be another that makes progress.
int WaitLog::on_persistent_collective_completed(void* request) {
  Persistent complete{};
  {
    const std::lock_guard guard(persistent_lock);
    const auto found = all_persistent().by_request.find(request);
    if (found == all_persistent().by_request.end()) return 0;
    complete = found->second;
  }
  if (complete.active.is_known() && is_awaited(request)) {
    completed(complete.active);
    completed({complete.facts});
  }
  return 0;
}

bool WaitLog::saw_collective(const void* request) {
  const std::lock_guard guard(pending_lock);
  const auto found = pending_collectives().find(request);
  if (found == pending_collectives().end()) return false;
  completed({found->second.part});
  completed({found->second.facts});
  return true;
}

int WaitLog::on_collective_freed(void** request) {
  Pending pending{};
  {
    const std::lock_guard guard(pending_lock);
    const auto found = pending_collectives().find(*request);
    if (found == pending_collectives().end()) return 0;
    pending = found->second;
    pending_collectives().erase(found);
  }
  field_ref<FreeFunction>(*request, openmpi::kRequestFree) = pending.free;
  completed({pending.part});
  completed({pending.facts});
  return pending.free(request);
}

}  // namespace fathom::profiler
