// SPDX-License-Identifier: BSD-3-Clause
// The live communicators of this process, found by their index in Open MPI's list.
//
// Open MPI informs the PML about every communicator it makes, including those inside windows, files
// and coll/han that no MPI call returns (mca_pml.pml_add_comm, pml_del_comm); source_pml.cpp passes
// both events on to this class. The wrappers know which call is active, and on which communicator:
// that gives the new communicator its maker, its parent and its class.
//
// As a rule the thread that makes a communicator also announces it. But a duplicate made without
// blocking (by MPI_Comm_idup, and the one of its local group that every intercommunicator keeps) is
// finished by whichever thread happens to drive the library's progress
// (ompi_comm_request_progress). Its maker is then the call that is active, on any thread, on the
// communicator that it duplicates.
//
// Threading: find() is wait-free from any thread. All other functions take a lock and are cold.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/reserved_array.h"
#include "profiler/counting/live_communicator.h"
#include "rankmap/registry.h"

namespace fathom::profiler {

// An MPI call that is making communicators.
struct MakingCall {
  const char* function;
  Live* parent;                       // may be null
  ClassId class_of_new;               // of tags < 0 on the new one; kNoClass: by tag and call
  ClassId program_class_of_new;       // of tags >= 0
  MakingCall* outer = nullptr;        // the enclosing call on the same thread
  MakingCall* next_active = nullptr;  // list of active calls of all threads
  // Communicators that the library made within this call. Until the call returns, their messages
  // count as the library's.
  static constexpr int kMaxMade = 16;
  Live* made[kMaxMade] = {};
  const void* made_comm[kMaxMade] = {};
  int made_count = 0;
};

class Communicators {
 public:
  // Called when a communicator has been added and before it is removed (the source's
  // subscriptions).
  using Observer = void (*)(Live&);
  // Called when a communicator becomes known to Fathom or visible to the program: its row in the
  // registry may have gained facts.
  using KnownObserver = void (*)(std::uint32_t kind);

  // False without address space.
  bool open(rankmap::Registry* registry);
  void set_known_observer(KnownObserver known) { known_ = known; }
  void set_observers(Observer added, Observer removed);
  // The same for readers of a running job (queue_places.h), and at once for each live communicator.
  void set_watchers(Observer added, Observer removed);

  // Code that runs for every message gives the layout as a constant.
  [[gnu::always_inline]] static Live* find(const void* comm,
                                           const openmpi::Layout& layout = openmpi::layout()) {
    const std::uint32_t index = rankmap::index(comm, layout);
    if (index >= table_size_) return nullptr;
    Live* live = table_[index].load(std::memory_order_acquire);
    return live != nullptr && live->comm == comm ? live : nullptr;
  }

  // Open MPI has just made `comm`. Never throws; without memory the communicator stays uncounted.
  void added(const void* comm) noexcept;
  // A communicator that exists when counting starts: the predefined ones and MPI_Init's.
  void adopt(const void* comm, const char* name, const char* made_by, std::uint32_t flags) noexcept;
  // The helper that an intercommunicator keeps for its local group takes the classes of its calls.
  void follow_local(Live& intercommunicator) noexcept;
  void removed(const void* comm) noexcept;
  // Counting stops, while the library may still have any of them.
  void removed_all() noexcept;

  // The call is active from here on.
  void begun(MakingCall& call) noexcept;
  // The call returns: the program may now use the communicators that it made.
  void ended(MakingCall& call) noexcept;
  // The same for a call that made a window: collectives inside it have this class from here on.
  // Returns the window's own communicator, which the others serve; null if none is known.
  Live* opened_in_window(MakingCall& call, ClassId class_id) noexcept;

  // The constructor returned this handle to the program.
  void made_visible(const void* comm, const MakingCall& call) noexcept;
  // The program freed its handle.
  void freed_by_program(const void* comm) noexcept;

  // For each live communicator, under the lock.
  template <typename F>
  void for_each(F&& f) {
    const std::lock_guard guard(lock_);
    for (Live* live : live_) f(*live);
  }

  // The constructor, and the communicator of the collective, active on this thread.
  static MakingCall*& making_call();
  static Live*& collective_on();

 private:
  static constexpr std::uint32_t kMaxIndices = 1u << 20;

  struct PendingDuplicate {  // the call returned the handle, Open MPI has not announced it yet
    const void* comm;
    const char* function;
    std::uint32_t parent_kind;
    bool visible;  // false: the helper for its local group
  };

  static bool duplicates_for(const MakingCall* call, const void* original);
  MakingCall* maker_of(const void* comm) const;
  Live* place(const void* comm, const char* made_by, std::uint32_t parent_kind,
              std::uint32_t flags);

  rankmap::Registry* registry_ = nullptr;
  Observer added_observer_ = nullptr;
  Observer removed_observer_ = nullptr;
  Observer added_watcher_ = nullptr;
  Observer removed_watcher_ = nullptr;
  KnownObserver known_ = [](std::uint32_t) {};
  base::ReservedArray<std::atomic<Live*>> by_index_;
  static inline std::atomic<Live*>* table_ = nullptr;  // by_index_ of the one process
  static inline std::uint32_t table_size_ = 0;
  std::mutex lock_;
  std::vector<Live*> live_;
  std::vector<std::unique_ptr<Live>> all_;
  std::vector<Live*> free_;
  std::vector<PendingDuplicate> pending_;
  MakingCall* active_calls_ = nullptr;
};

}  // namespace fathom::profiler
