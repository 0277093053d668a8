// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/counting/communicators.h"

#include <algorithm>

#include "profiler/counting/partitioned.h"

namespace fathom::profiler {

MakingCall*& Communicators::making_call() {
  static thread_local MakingCall* call __attribute__((tls_model("initial-exec"))) = nullptr;
  return call;
}

Live*& Communicators::collective_on() {
  static thread_local Live* live __attribute__((tls_model("initial-exec"))) = nullptr;
  return live;
}

bool Communicators::open(rankmap::Registry* registry) {
  registry_ = registry;
  if (!by_index_.reserve(kMaxIndices)) return false;
  table_ = by_index_.data();
  table_size_ = kMaxIndices;
  return true;
}

void Communicators::set_observers(Observer added, Observer removed) {
  added_observer_ = added;
  removed_observer_ = removed;
}

void Communicators::set_watchers(Observer added, Observer removed) {
  const std::lock_guard guard(lock_);
  added_watcher_ = added;
  removed_watcher_ = removed;
  for (Live* live : live_) added(*live);
}

Live* Communicators::place(const void* comm, const char* made_by, std::uint32_t parent_kind,
                           std::uint32_t flags) {
  if (rankmap::index(comm) >= kMaxIndices) return nullptr;
  const std::uint32_t kind = registry_->add(comm, made_by, parent_kind, flags);
  if (kind == rankmap::kNoKind) return nullptr;
  if (free_.empty()) {
    all_.push_back(std::make_unique<Live>());
    free_.reserve(all_.size());
    free_.push_back(all_.back().get());
  }
  live_.reserve(live_.size() + 1);
  Live* live = free_.back();
  free_.pop_back();
  live->reset();
  live->comm = comm;
  live->group = rankmap::remote_group(comm);
  live->kind = kind;
  live_.push_back(live);
  return live;
}

void Communicators::adopt(const void* comm, const char* name, const char* made_by,
                          std::uint32_t flags) noexcept try {
  removed(comm);  // counting began with a session, and MPI_Init has announced it
  const std::lock_guard guard(lock_);
  // The name tells MPI_COMM_WORLD from MPI_COMM_SELF when there is only one process.
  Live* live =
      place(comm, (flags & profile::kPredefined) ? name : made_by, rankmap::kNoKind, flags);
  if (live == nullptr) return;
  registry_->describe(live->kind, made_by, name);
  live->user_visible = (flags & profile::kInternal) == 0;
  if (added_observer_ != nullptr) added_observer_(*live);
  if (added_watcher_ != nullptr) added_watcher_(*live);
  by_index_.data()[rankmap::index(comm)].store(live, std::memory_order_release);
  known_(live->kind);
} catch (...) {
}

bool Communicators::duplicates_for(const MakingCall* call, const void* original) {
  if (call == nullptr || call->parent == nullptr) return false;
  const void* parent = call->parent->comm;
  return parent == original || rankmap::local_communicator(parent) == original;
}

// The call of this thread, unless the library finishes here what a call of another thread began.
MakingCall* Communicators::maker_of(const void* comm) const {
  MakingCall* own = making_call();
  const std::uint32_t index = rankmap::duplicate_of(comm).value_or(kMaxIndices);
  if (index >= kMaxIndices) return own;
  const Live* original = by_index_[index].load(std::memory_order_relaxed);
  if (original == nullptr || duplicates_for(own, original->comm)) return own;
  for (MakingCall* call = active_calls_; call != nullptr; call = call->next_active) {
    if (duplicates_for(call, original->comm)) return call;
  }
  return own;
}

void Communicators::added(const void* comm) noexcept try {
  const std::lock_guard guard(lock_);
  MakingCall* call = maker_of(comm);
  Live* served = collective_on();
  const auto duplicate = std::find_if(pending_.begin(), pending_.end(),
                                      [comm](const auto& p) { return p.comm == comm; });
  Live* live = nullptr;
  if (duplicate != pending_.end()) {
    live = place(comm, duplicate->function, duplicate->parent_kind,
                 duplicate->visible ? 0 : profile::kInternal);
    if (live != nullptr) live->user_visible = duplicate->visible;
    pending_.erase(duplicate);
  } else if (call != nullptr) {
    const std::uint32_t parent = call->parent == nullptr ? rankmap::kNoKind : call->parent->kind;
    live = place(comm, call->function, parent, profile::kInternal);
    if (live != nullptr) {
      live->set_classes(call->class_of_new, call->program_class_of_new);
      if (call->made_count < MakingCall::kMaxMade) {
        live->blocking_first_tag.store(0, std::memory_order_relaxed);
        live->blocking_class.store(kLibrary, std::memory_order_relaxed);
        call->made_comm[call->made_count] = comm;
        call->made[call->made_count++] = live;
      }
    }
  } else if (served != nullptr) {
    const ClassId active = served->blocking_class.load(std::memory_order_relaxed);
    live = place(comm, active < kClassCount ? kClassNames[active] : "", served->kind,
                 profile::kInternal);
    if (live != nullptr) {
      live->served.store(served->served.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
  } else {
    live = place(comm, "", rankmap::kNoKind, profile::kInternal);
    // One of the two that partitioned communication keeps: that of the partitions shows itself with
    // their first request, before their first message.
    if (live != nullptr && Partitioned::in_use()) live->set_classes(kNoClass, kLibrary);
  }
  if (live == nullptr) return;
  if (added_observer_ != nullptr) added_observer_(*live);
  if (added_watcher_ != nullptr) added_watcher_(*live);
  by_index_.data()[rankmap::index(comm)].store(live, std::memory_order_release);
  known_(live->kind);
} catch (...) {
}

void Communicators::removed(const void* comm) noexcept {
  const std::lock_guard guard(lock_);
  Live* live = find(comm);
  if (live == nullptr) return;
  if (removed_observer_ != nullptr) removed_observer_(*live);
  if (removed_watcher_ != nullptr) removed_watcher_(*live);
  by_index_.data()[rankmap::index(comm)].store(nullptr, std::memory_order_release);
  registry_->keep_name(live->kind, comm);
  if (!live->retired) registry_->retire(live->kind);
  for (Live* other : live_) {
    if (other->served.load(std::memory_order_relaxed) == live) other->served.store(other);
  }
  std::erase(live_, live);
  live->comm = nullptr;
  free_.push_back(live);  // place() reserved the room
}

void Communicators::removed_all() noexcept {
  for (;;) {
    const void* comm = nullptr;
    for_each([&comm](const Live& live) { comm = live.comm; });
    if (comm == nullptr) return;
    removed(comm);
  }
}

void Communicators::begun(MakingCall& call) noexcept {
  const std::lock_guard guard(lock_);
  call.next_active = active_calls_;
  active_calls_ = &call;
}

void Communicators::ended(MakingCall& call) noexcept {
  const std::lock_guard guard(lock_);
  MakingCall** link = &active_calls_;
  while (*link != nullptr && *link != &call) link = &(*link)->next_active;
  if (*link != nullptr) *link = call.next_active;
  for (int i = 0; i < call.made_count; ++i) {
    if (call.made[i]->comm != call.made_comm[i])
      continue;  // freed already, and the object perhaps reused for another communicator
    call.made[i]->blocking_class.store(kNoClass, std::memory_order_relaxed);
  }
}

// The first one is the window's duplicate of the program's communicator; coll/han and osc/rdma make
// others to serve it. What they still send after the duplicate is freed counts as the library's.
Live* Communicators::opened_in_window(MakingCall& call, ClassId class_id) noexcept {
  const std::lock_guard guard(lock_);
  Live* own = nullptr;
  for (int i = 0; i < call.made_count; ++i) {
    Live* live = call.made[i];
    if (live->comm != call.made_comm[i]) continue;
    if (own == nullptr) {
      own = live;
      own->blocking_class.store(class_id, std::memory_order_relaxed);
    } else {
      live->served.store(own, std::memory_order_relaxed);
    }
  }
  call.made_count = 0;  // ended() must not touch them
  return own;
}

// coll/inter does half of its work on the local group's communicator.
void Communicators::follow_local(Live& intercommunicator) noexcept {
  const void* local = rankmap::local_communicator(intercommunicator.comm);
  Live* helper = local == nullptr ? nullptr : find(local);
  if (helper != nullptr && !helper->user_visible) helper->served.store(&intercommunicator);
}

void Communicators::made_visible(const void* comm, const MakingCall& call) noexcept try {
  const std::lock_guard guard(lock_);
  Live* live = find(comm);
  if (live != nullptr) {
    live->user_visible = true;
    if (live->program_class.load(std::memory_order_relaxed) == kLibrary) {
      live->program_class.store(kPointToPoint, std::memory_order_relaxed);
    }
    registry_->mark_visible(live->kind);
    follow_local(*live);
    known_(live->kind);
    return;
  }
  // Only calls that do not block, as MPI_Comm_idup, return a handle that has no index yet.
  const std::uint32_t parent_kind = call.parent == nullptr ? rankmap::kNoKind : call.parent->kind;
  const void* local = rankmap::local_communicator(comm);
  if (local != nullptr && find(local) == nullptr)
    pending_.push_back({local, call.function, parent_kind, false});
  pending_.push_back({comm, call.function, parent_kind, true});
} catch (...) {
}

void Communicators::freed_by_program(const void* comm) noexcept {
  const std::lock_guard guard(lock_);
  Live* live = find(comm);
  if (live == nullptr || live->retired) return;
  registry_->keep_name(live->kind, comm);
  registry_->retire(live->kind);
  live->retired = true;
  // What the library still sends on it (a barrier in MPI_Comm_disconnect) counts as the library's.
  live->blocking_first_tag.store(0, std::memory_order_relaxed);
  live->blocking_class.store(kLibrary, std::memory_order_relaxed);
}

}  // namespace fathom::profiler
