// SPDX-License-Identifier: BSD-3-Clause
// Locks of windows: which release a call waited for, wherever the library makes it wait, and that
// waits are edges.
#include <doctest/doctest.h>

#include "analysis/engine/rounds.h"
#include "analysis/engine/windows/lock_order.h"
#include "analysis/path/critical_path.h"
#include "test/unit/engine/found_waits.h"

namespace fathom::analysis {
namespace {

using test::check, test::check_edges, test::Joined, test::MadeJob, test::waits_of;
using trace::LockType;

// As locks of these lengths are made: long enough that each access counts.
constexpr std::uint64_t kUs = 1000;

struct LockTimes {
  std::uint64_t lock = 0, locked = 0, put = 0, left = 0, unlock = 0, unlocked = 0;
};

MadeJob windows_of(int ranks) {
  MadeJob made(ranks);
  for (int rank = 0; rank < ranks; ++rank) made.on_window(rank, 10, 20, "MPI_Win_create", 0xa);
  return made;
}

void hold(MadeJob& made, int rank, LockType type, const LockTimes& at_us, int target = 0) {
  made.in_lock(rank, at_us.lock * kUs, at_us.locked * kUs, "MPI_Win_lock", target, type);
  made.in_lock(rank, at_us.put * kUs, at_us.left * kUs, "MPI_Put", target);
  made.in_lock(rank, at_us.unlock * kUs, at_us.unlocked * kUs, "MPI_Win_unlock", target);
}

TEST_CASE("a lock waits for the unlock of the one that holds it") {
  MadeJob made = windows_of(3);
  hold(made, 1, LockType::kExclusive, {100, 110, 120, 130, 600, 610});
  hold(made, 0, LockType::kExclusive, {200, 630, 640, 650, 660, 670});
  check(waits_of(made), {{WaitKind::kLock, 0, 1, 400 * kUs}});
  check_edges(made);
}

TEST_CASE("a lock that the library has put off waits in the unlock") {
  MadeJob made = windows_of(3);
  hold(made, 1, LockType::kExclusive, {100, 110, 120, 130, 600, 610});
  hold(made, 0, LockType::kExclusive, {200, 201, 202, 203, 204, 640});
  check(waits_of(made), {{WaitKind::kLock, 0, 1, (600 - 204) * kUs}});
  check_edges(made);
}

TEST_CASE("locks that are put off wait one after the other") {
  MadeJob made = windows_of(4);
  hold(made, 1, LockType::kExclusive, {100, 110, 120, 130, 600, 610});
  hold(made, 0, LockType::kExclusive, {200, 201, 202, 203, 204, 640});
  hold(made, 2, LockType::kExclusive, {300, 301, 302, 303, 304, 650});
  // Rank 3 asks after rank 1 has gone. The others are at their unlocks by then.
  hold(made, 3, LockType::kExclusive, {605, 606, 607, 608, 609, 660});
  check(waits_of(made),
        {{WaitKind::kLock, 0, 1, (600 - 204) * kUs}, {WaitKind::kLock, 2, 1, (600 - 304) * kUs}});
  check_edges(made);
}

TEST_CASE("several shared locks wait for one exclusive lock") {
  MadeJob made = windows_of(4);
  hold(made, 1, LockType::kExclusive, {100, 110, 120, 130, 600, 610});
  hold(made, 0, LockType::kShared, {200, 620, 630, 640, 650, 660});
  hold(made, 2, LockType::kShared, {300, 630, 640, 650, 660, 670});
  hold(made, 3, LockType::kShared, {400, 625, 640, 650, 660, 670});
  check(waits_of(made), {{WaitKind::kLock, 0, 1, 400 * kUs},
                         {WaitKind::kLock, 2, 1, 300 * kUs},
                         {WaitKind::kLock, 3, 1, 200 * kUs}});
  check_edges(made);
}

TEST_CASE("an exclusive lock waits for the last of several shared ones") {
  MadeJob made = windows_of(4);
  hold(made, 1, LockType::kShared, {100, 110, 120, 130, 600, 610});
  hold(made, 2, LockType::kShared, {100, 110, 120, 130, 500, 510});
  hold(made, 0, LockType::kExclusive, {200, 630, 640, 650, 660, 670});
  check(waits_of(made), {{WaitKind::kLock, 0, 1, 400 * kUs}});
  check_edges(made);
}

TEST_CASE(
    "shared locks, other targets, other windows and unchecked locks do not wait for each other") {
  MadeJob made = windows_of(4);
  for (int rank = 0; rank < 4; ++rank) made.on_window(rank, 30, 40, "MPI_Win_create", 0xb);
  hold(made, 1, LockType::kShared, {100, 110, 120, 130, 600, 610});
  hold(made, 0, LockType::kShared, {200, 630, 640, 650, 660, 670});
  hold(made, 2, LockType::kExclusive, {200, 630, 640, 650, 660, 670}, 3);
  made.in_lock(3, 200 * kUs, 630 * kUs, "MPI_Win_lock", 0, LockType::kExclusive, 0xb);
  made.in_lock(3, 640 * kUs, 650 * kUs, "MPI_Win_unlock", 0, LockType::kUnknown, 0xb);
  hold(made, 3, LockType::kNoCheck, {700, 710, 720, 730, 740, 750});
  check(waits_of(made), {});
  check_edges(made);
}

TEST_CASE("MPI_Win_lock_all waits for an exclusive lock at any target, and holds one up") {
  MadeJob made = windows_of(3);
  hold(made, 1, LockType::kExclusive, {100, 110, 120, 130, 600, 610}, 2);
  made.in_lock(0, 200 * kUs, 630 * kUs, "MPI_Win_lock_all", -1, LockType::kShared);
  made.in_lock(0, 640 * kUs, 650 * kUs, "MPI_Put", 2);
  made.in_lock(0, 660 * kUs, 670 * kUs, "MPI_Win_flush", 2);
  hold(made, 1, LockType::kExclusive, {700, 930, 940, 950, 960, 970}, 2);
  made.in_lock(0, 900 * kUs, 910 * kUs, "MPI_Win_unlock_all", -1);
  check(waits_of(made), {{WaitKind::kLock, 0, 1, 400 * kUs}, {WaitKind::kLock, 1, 0, 200 * kUs}});
  check_edges(made);
}

TEST_CASE("a flush shows who had the lock first, if the unlock is late") {
  MadeJob made = windows_of(2);
  made.in_lock(1, 100 * kUs, 110 * kUs, "MPI_Win_lock", 0, LockType::kExclusive);
  made.in_lock(1, 120 * kUs, 130 * kUs, "MPI_Put", 0);
  made.in_lock(1, 140 * kUs, 150 * kUs, "MPI_Win_flush", 0);
  made.in_lock(1, 600 * kUs, 900 * kUs, "MPI_Win_unlock", 0);
  hold(made, 0, LockType::kExclusive, {200, 620, 630, 640, 650, 660});
  check(waits_of(made), {{WaitKind::kLock, 0, 1, 400 * kUs}});
  check_edges(made);
}

TEST_CASE("the critical path leaves a wait for a lock to the one that held it") {
  MadeJob made = windows_of(2);
  hold(made, 1, LockType::kExclusive, {100, 110, 120, 130, 600, 610});
  hold(made, 0, LockType::kExclusive, {200, 630, 640, 650, 660, 1000});
  const Joined job(made);
  const auto pass = critical_path_pass(*job, 1000);
  run_passes(job->transport(), {pass.pass.get()});
  std::uint64_t on_path_ns[2] = {};
  for (const PathStretch& stretch : pass.result().stretches)
    on_path_ns[stretch.process] += stretch.end_ns - stretch.begin_ns;
  CHECK(on_path_ns[1] == 600 * kUs - 10);
  CHECK(on_path_ns[0] == 400 * kUs);
}

TEST_CASE("releases are forgotten when no open call can have waited for them") {
  LockOrder order;
  std::vector<LockEdge> edges;
  LockCall call;
  call.window = {0, 1};
  call.attempt.exclusive = true;
  for (std::uint32_t round = 0; round < 3; ++round) {
    const std::uint64_t now_ns = round * 1000;
    for (std::uint32_t process = 0; process < 2; ++process) {
      call.process = process;
      call.attempt.lock = round + 1;
      call.attempt.lock_target = call.attempt.target = 0;
      call.attempt.waits = true;
      call.attempt.has_lock = call.attempt.releases = false;
      call.hears = round * 10;
      call.tells = kNobody;
      call.enter_ns = now_ns + 10;
      call.leave_ns = process == 0 ? now_ns + 20 : now_ns + 520;
      order.add(call);
      call.attempt.waits = false;
      call.attempt.has_lock = call.attempt.releases = true;
      call.hears = kNobody;
      call.tells = round * 10 + 1;
      call.enter_ns = process == 0 ? now_ns + 500 : now_ns + 600;
      call.leave_ns = call.enter_ns + 10;
      order.add(call);
    }
    order.settle(now_ns + 1000, edges);
    CHECK(order.kept() == 0);
  }
  REQUIRE(edges.size() == 3);
  CHECK(edges[2].holder == 0);
  CHECK(edges[2].waiter == 1);
  CHECK(edges[2].released_ns == 2500);
}

// Rank 2 gets the lock after the others, and how long it has it is not in the trace.
MadeJob never_unlocked() {
  MadeJob made = windows_of(3);
  hold(made, 1, LockType::kExclusive, {100, 110, 120, 130, 600, 610});
  hold(made, 0, LockType::kExclusive, {200, 630, 640, 650, 660, 670});
  made.in_lock(2, 300 * kUs, 700 * kUs, "MPI_Win_lock", 0, LockType::kExclusive);
  return made;
}

TEST_CASE("a lock that is never unlocked takes no wait from others") {
  MadeJob made = never_unlocked();
  check(waits_of(made), {{WaitKind::kLock, 0, 1, 400 * kUs}});
  check_edges(made);
}

TEST_CASE("a lock that is held when recording pauses is forgotten, and no release waits for it") {
  MadeJob made = never_unlocked();
  made.add(2, trace::EventKind::kPause, 800 * kUs);
  made.in_lock(2, 900 * kUs, 910 * kUs, "MPI_Win_unlock", 0);
  check(waits_of(made), {{WaitKind::kLock, 0, 1, 400 * kUs}});
  check_edges(made);

  LockEpochs held;
  held.entered(10);
  CHECK(held.left(mpi::LockStep::kLock, 1, 0, LockType::kExclusive, 10, 20).size() == 1);
  const auto lost = held.clear();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].attempt.lost);
}

TEST_CASE("a call that is open when records are lost is not taken for a later one") {
  LockEpochs epochs;
  epochs.entered(10);
  epochs.clear();
  CHECK(epochs.oldest_ns(100) == 100);
  CHECK(epochs.left(mpi::LockStep::kLock, 1, 0, LockType::kExclusive, 10, 200).empty());
  epochs.entered(300);
  CHECK(epochs.left(mpi::LockStep::kLock, 1, 0, LockType::kExclusive, 300, 400).size() == 1);
}

TEST_CASE("a flush of all targets waits for nothing if the process has the lock at all of them") {
  LockEpochs epochs;
  std::uint64_t now_ns = 0;
  const auto call = [&](mpi::LockStep does, std::int32_t target) {
    epochs.entered(now_ns += 10 * kUs);
    const auto attempts = epochs.left(does, 1, target, LockType::kShared, now_ns, now_ns + 5 * kUs);
    return !attempts.empty() && attempts[0].waits;
  };
  call(mpi::LockStep::kLock, -1);
  for (const std::int32_t target : {2, 0, 1}) CHECK(call(mpi::LockStep::kAccess, target));
  CHECK(call(mpi::LockStep::kFlush, -1));
  CHECK_FALSE(call(mpi::LockStep::kFlush, -1));
  CHECK_FALSE(call(mpi::LockStep::kAccess, 1));
  CHECK_FALSE(call(mpi::LockStep::kFlush, -1));
  CHECK(call(mpi::LockStep::kAccess, 3));
  CHECK(call(mpi::LockStep::kFlush, -1));
  CHECK_FALSE(call(mpi::LockStep::kUnlock, -1));
}

// Two processes take turns while a third one is in one long call, so nothing can be settled before.
TEST_CASE("a call is compared with the releases of its time, not with all that there were") {
  constexpr std::uint32_t kRounds = 4096;
  LockOrder order;
  std::vector<LockEdge> edges;
  LockCall call;
  call.window = {0, 1};
  call.attempt.exclusive = true;
  const auto add = [&](std::uint32_t process, std::uint32_t lock, std::uint64_t lock_ns,
                       std::uint64_t locked_ns, std::uint64_t unlock_ns,
                       std::uint64_t unlocked_ns) {
    call.process = process;
    call.attempt.lock = lock;
    call.attempt.lock_target = call.attempt.target = 0;
    call.attempt.waits = true;
    call.attempt.has_lock = call.attempt.releases = false;
    call.hears = 4 * lock;
    call.tells = LockCall::kNone;
    call.enter_ns = lock_ns;
    call.leave_ns = locked_ns;
    order.add(call);
    call.attempt.waits = false;
    call.attempt.has_lock = call.attempt.releases = true;
    call.hears = LockCall::kNone;
    call.tells = 4 * lock + 1;
    call.enter_ns = unlock_ns;
    call.leave_ns = unlocked_ns;
    order.add(call);
  };
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const std::uint64_t now_ns = round * std::uint64_t{100} + 1000;
    add(round % 2, round + 1, now_ns - 50, now_ns + 10, now_ns + 90, now_ns + 95);
  }
  add(2, 1, 900, 1000 + kRounds * 100, 1000 + kRounds * 100, 1000 + kRounds * 100 + 1);
  order.settle(LockOrder::kAtTheEnd, edges);
  CHECK(edges.size() == kRounds);  // each of all but the first, and the third process
  CHECK(order.kept() == 0);
  CHECK(order.compared() < 100 * kRounds);
}

}  // namespace
}  // namespace fathom::analysis
