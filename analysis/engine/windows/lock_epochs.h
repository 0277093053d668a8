// SPDX-License-Identifier: BSD-3-Clause
// The locks of windows (MPI 3.1, section 11.5.3) as one process sees them: which of its calls may
// have waited for a lock, and when it had it.
//
// A library may put a lock off until an operation needs it, so the wait can lie in the call that locks,
// in a put or get, in a flush or in the unlock. From a flush after an access, or else the unlock, the
// process is known to have had the lock. Until then each of its calls there may have waited. With
// MPI_MODE_NOCHECK there is nothing to wait for.
//
// Accesses that took less than kShortest_ns are left out: a program may make millions of them under
// one lock.
//
// Threading: none. Memory: the locks that the process holds, and its open calls.
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "mpi/meaning.h"
#include "trace/format/format.h"

namespace fathom::analysis {

class LockEpochs {
 public:
  static constexpr std::uint64_t kShortest_ns = 1000;
  static constexpr std::int32_t kAll = -1;

  // What a call may have waited for, or what it shows.
  struct Attempt {
    std::uint32_t lock = 0;           // numbers the locks of this process
    std::int32_t lock_target = kAll;  // world rank, or kAll of MPI_Win_lock_all
    std::int32_t target = kAll;       // of the call; kAll: of all
    bool exclusive = false;
    bool waits = false;     // it may have waited for the lock
    bool has_lock = false;  // when the call returned
    bool releases = false;  // MPI_Win_unlock, MPI_Win_unlock_all
    bool lost = false;      // no more is known of the lock
  };

  // A call is entered at the window with this handle. `target` is a world rank, or kAll if it names
  // none.
  void entered(std::uint64_t enter_ns) { open_.push_back(enter_ns); }
  // It is left. One for each lock that it concerns; none if clear() was called in it.
  std::vector<Attempt> left(mpi::LockStep does, std::uint64_t window, std::int32_t target,
                            trace::LockType type, std::uint64_t enter_ns, std::uint64_t leave_ns);

  // When the first of the open calls was entered; `now_ns` if there is none.
  std::uint64_t oldest_ns(std::uint64_t now_ns) const;
  // Records are missing: what is held from now on is not known. Returns the locks that were held, with
  // their windows.
  struct HeldLock {
    std::uint64_t window = 0;
    Attempt attempt;
  };
  std::vector<HeldLock> clear();

 private:
  struct Lock {
    std::uint32_t number = 0;
    std::int32_t target = kAll;
    trace::LockType type = trace::LockType::kUnknown;
    std::vector<std::int32_t> had;       // targets at which it surely has the lock, ascending
    std::vector<std::int32_t> accessed;  // the others that it has accessed, ascending
  };

  static bool note(mpi::LockStep does, Lock& lock, std::int32_t target);

  base::FlatMap<std::uint64_t, std::vector<Lock>> locks_;  // by window
  std::vector<std::uint64_t> open_;
  std::uint32_t last_number_ = 0;
};

}  // namespace fathom::analysis
