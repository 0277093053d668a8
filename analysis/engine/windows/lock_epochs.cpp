// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/windows/lock_epochs.h"

#include <algorithm>

namespace fathom::analysis {
namespace {

using mpi::LockStep;
using trace::LockType;

bool holds(const std::vector<std::int32_t>& targets, std::int32_t target) {
  return std::find(targets.begin(), targets.end(), target) != targets.end();
}

void add_once(std::vector<std::int32_t>& targets, std::int32_t target) {
  if (!holds(targets, target)) targets.push_back(target);
}

}  // namespace

// Whether the process surely has the lock at this target from now on, and had not before.
bool LockEpochs::note(LockStep does, Lock& lock, std::int32_t target) {
  if (does == LockStep::kAccess && target != kAll) add_once(lock.accessed, target);
  if (does != LockStep::kFlush) return false;
  bool news = false;
  for (const std::int32_t accessed : lock.accessed) {
    if ((target != kAll && accessed != target) || holds(lock.had, accessed)) continue;
    lock.had.push_back(accessed);
    news = true;
  }
  return news;
}

std::vector<LockEpochs::Attempt> LockEpochs::left(LockStep does, std::uint64_t window,
                                                  std::int32_t target, LockType type,
                                                  std::uint64_t enter_ns, std::uint64_t leave_ns) {
  const auto open = std::find(open_.begin(), open_.end(), enter_ns);
  if (open != open_.end()) open_.erase(open);
  std::vector<Attempt> attempts;
  std::vector<Lock>* of_window = locks_.find(window);
  if (does == LockStep::kLock) {
    if (of_window == nullptr) of_window = &locks_[window];
    of_window->push_back({++last_number_, target, type, {}, {}});
    const bool waits = type == LockType::kExclusive || type == LockType::kShared;
    if (waits)
      attempts.push_back(
          {last_number_, target, target, type == LockType::kExclusive, true, false, false});
    return attempts;
  }
  if (of_window == nullptr) return attempts;
  const bool unlocks = does == LockStep::kUnlock;
  for (Lock& lock : *of_window) {
    const bool concerned = unlocks ? lock.target == target
                                   : lock.target == target || lock.target == kAll || target == kAll;
    if (!concerned) continue;
    if (lock.type != LockType::kExclusive && lock.type != LockType::kShared) continue;
    const std::int32_t at = lock.target == kAll ? target : lock.target;
    const bool had = !lock.had.empty() && (lock.target != kAll || holds(lock.had, at));
    const bool news = note(does, lock, at);
    const bool short_one = does == LockStep::kAccess && leave_ns - enter_ns < kShortest_ns;
    const bool waits = !had && !short_one;
    if (!waits && !news && !unlocks) continue;
    attempts.push_back({lock.number, lock.target, at, lock.type == LockType::kExclusive, waits,
                        news || unlocks, unlocks});
  }
  if (unlocks) std::erase_if(*of_window, [&](const Lock& lock) { return lock.target == target; });
  if (of_window->empty()) locks_.erase(window);
  return attempts;
}

std::uint64_t LockEpochs::oldest_ns(std::uint64_t now_ns) const {
  std::uint64_t oldest_ns = now_ns;
  for (const std::uint64_t enter_ns : open_) oldest_ns = std::min(oldest_ns, enter_ns);
  return oldest_ns;
}

void LockEpochs::clear() {
  locks_.clear();
  open_.clear();
}

}  // namespace fathom::analysis
