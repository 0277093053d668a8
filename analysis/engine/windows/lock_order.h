// SPDX-License-Identifier: BSD-3-Clause
// Who waited for whose lock on a window: orders the locks of all processes at each target by the time
// from which they were surely held, and finds for each call that may have waited the release that
// ended its wait.
//
// Two locks conflict if one of them is exclusive and both are on one target; then one was released
// before the other was granted. Call U the moment at which a process enters its unlock, and G the
// moment at which it is first known to have the lock: the return of a flush after an access, else of the
// unlock (lock_epochs.h). If A had the lock before B, then U_A <= release of A <= grant of B <= G_B.
// So a call of B that lasted over U_A waited for A's release, if A's G came before B's. Where A's
// unlock itself waited for a third process, A released no earlier than that one had: the later of the
// two moments is A's release. If there are several releases in one call, the last one ended the wait.
//
// The exact moment of a release lies inside the unlock; what the unlock takes after it is entered (the
// completion of its operations) counts as the waiting call's own time. If an unlock returns so late that
// the next process has locked, accessed and unlocked before, and neither had flushed, the two are taken
// for each other's successor.
//
// Calls are judged once every process has come so far that nothing before is missing: settle(). The
// result therefore does not depend on how the trace was read.
//
// Threading: none. Memory: locks that are held or waited for, and releases during open calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/engine/windows/epochs.h"
#include "analysis/engine/windows/lock_epochs.h"

namespace fathom::analysis {

// A call of a process at a locked window. kNone: no such step.
struct LockCall {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  WindowName window;
  std::uint32_t process = 0;
  std::uint32_t hears = kNone;  // its kReceive, if it may have waited
  std::uint32_t tells = kNone;  // its kSend, if it releases the lock
  std::uint32_t reserved = 0;
  LockEpochs::Attempt attempt;
  std::uint64_t enter_ns = 0, leave_ns = 0;
};

// A call waited for a release. One release may end the waits of several: shared locks after an
// exclusive one. The edges of a release are in the order in which those calls were left; each leads
// on to the next.
struct LockEdge {
  static constexpr std::uint32_t kNone = LockCall::kNone;
  std::uint32_t holder = 0, release = 0;  // its kSend
  std::uint32_t waiter = 0, call = 0;     // its kReceive
  std::uint32_t next = kNone, next_call = 0;
  std::uint32_t position = 0, of = 0;
  std::uint64_t released_ns = 0;
  std::uint64_t entered_ns = 0;  // the call that waited
};

class LockOrder {
 public:
  void add(const LockCall& call);

  static constexpr std::uint64_t kAtTheEnd = ~std::uint64_t{0};

  // Every call that is left before `until_ns` has been added, and every one that is added later is
  // entered after it. Appends the edges that are known by now; with kAtTheEnd, all.
  void settle(std::uint64_t until_ns, std::vector<LockEdge>& edges);

  // Locks and releases that it remembers.
  std::size_t kept() const;
  // How often it has compared releases with calls that may have waited for them.
  std::uint64_t compared() const { return compared_; }

 private:
  struct Waiter {
    std::uint32_t process = 0, step = 0;
    std::uint64_t enter_ns = 0, leave_ns = 0;
  };
  // A lock, from the first that is known of it to its release.
  struct Hold;
  struct Waiting {
    Waiter call;
    std::int32_t target = LockEpochs::kAll;
    std::vector<std::shared_ptr<Hold>> releases;  // inside the call
  };
  struct Hold {
    std::uint32_t process = 0;
    std::int32_t target = LockEpochs::kAll;
    bool exclusive = false;
    bool had_all = false;           // at all its targets
    std::vector<std::int32_t> had;  // targets
    std::vector<Waiting> waiting;   // its calls, until it has the lock
    std::uint32_t release = LockCall::kNone;
    std::uint64_t unlock_ns = 0, released_ns = 0, unlocked_ns = 0;
    std::vector<Waiter> waiters;  // for its release

    bool has(std::int32_t at) const;
  };
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // process, lock
  // At one target, or of MPI_Win_unlock_all. A window may have many while one process is in a long call,
  // so those of a moment are searched for.
  struct Releases {
    std::vector<std::shared_ptr<Hold>> all;  // the first `sorted` ones by unlock_ns
    std::size_t sorted = 0;
    // A binary tree over these, with the root at 1 and the children of n at 2n and 2n + 1: the latest
    // unlocked_ns below each node. 0: none.
    std::vector<std::uint64_t> latest_ns;

    void sort();
    void changed();
    // Calls visit(hold) for those with unlock_ns < to_ns and unlocked_ns > from_ns, in order. Returns the
    // nodes that it looked at: O(log n) for each.
    template <typename Visit>
    std::uint64_t overlapping(std::uint64_t from_ns, std::uint64_t to_ns, Visit visit) const;
  };
  struct Window {
    std::map<Key, std::shared_ptr<Hold>> holds;
    std::map<std::int32_t, Releases> releases;  // by target
    std::vector<LockCall> pending;
  };

  void judge(Window& window, const LockCall& call);
  void find_releases(const Releases& releases, const LockCall& call, const Hold& hold,
                     Waiting& waiting);
  static void has_lock(Hold& hold, const LockCall& call);
  static void retire(Window& window, std::uint64_t until_ns, std::vector<LockEdge>& edges);
  static void retire(Releases& releases, std::uint64_t until_ns, std::vector<LockEdge>& edges);

  std::map<std::pair<std::int32_t, std::uint32_t>, Window> windows_;
  std::uint64_t settled_until_ns_ = 0, compared_ = 0;
};

}  // namespace fathom::analysis
