// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/windows/lock_epochs.h"

#include <algorithm>

namespace fathom::analysis {
namespace {

using mpi::LockStep;
using trace::LockType;

bool holds(const std::vector<std::int32_t>& targets, std::int32_t target) {
  return std::binary_search(targets.begin(), targets.end(), target);
}

void add_once(std::vector<std::int32_t>& targets, std::int32_t target) {
  const auto place = std::lower_bound(targets.begin(), targets.end(), target);
  if (place == targets.end() || *place != target) targets.insert(place, target);
}

bool checks(LockType type) { return type == LockType::kExclusive || type == LockType::kShared; }

}  // namespace

// Whether the process surely has the lock at this target from now on, and had not before.
bool LockEpochs::note(LockStep does, Lock& lock, std::int32_t target) {
  if (does == LockStep::kAccess && target != kAll && !holds(lock.had, target))
    add_once(lock.accessed, target);
  if (does != LockStep::kFlush) return false;
  if (target != kAll) {
    if (!holds(lock.accessed, target)) return false;
    std::erase(lock.accessed, target);
    add_once(lock.had, target);
    return true;
  }
  if (lock.accessed.empty()) return false;
  const auto middle = static_cast<std::ptrdiff_t>(lock.had.size());
  lock.had.insert(lock.had.end(), lock.accessed.begin(), lock.accessed.end());
  std::inplace_merge(lock.had.begin(), lock.had.begin() + middle, lock.had.end());
  lock.accessed.clear();
  return true;
}

std::vector<LockEpochs::Attempt> LockEpochs::left(LockStep does, std::uint64_t window,
                                                  std::int32_t target, LockType type,
                                                  std::uint64_t enter_ns, std::uint64_t leave_ns) {
  const auto open = std::find(open_.begin(), open_.end(), enter_ns);
  std::vector<Attempt> attempts;
  if (open == open_.end()) return attempts;
  open_.erase(open);
  std::vector<Lock>* of_window = locks_.find(window);
  if (does == LockStep::kLock) {
    if (of_window == nullptr) of_window = &locks_[window];
    of_window->push_back({++last_number_, target, type, {}, {}});
    if (checks(type))
      attempts.push_back(
          {last_number_, target, target, type == LockType::kExclusive, true, false, false, false});
    return attempts;
  }
  if (of_window == nullptr) return attempts;
  const bool unlocks = does == LockStep::kUnlock;
  for (Lock& lock : *of_window) {
    const bool concerned = unlocks ? lock.target == target
                                   : lock.target == target || lock.target == kAll || target == kAll;
    if (!concerned) continue;
    if (!checks(lock.type)) continue;
    const std::int32_t at = lock.target == kAll ? target : lock.target;
    const bool had = !lock.had.empty() && (at == kAll ? lock.accessed.empty()
                                                      : lock.target != kAll || holds(lock.had, at));
    const bool news = note(does, lock, at);
    const bool short_one = does == LockStep::kAccess && leave_ns - enter_ns < kShortest_ns;
    const bool waits = !had && !short_one;
    if (!waits && !news && !unlocks) continue;
    attempts.push_back({lock.number, lock.target, at, lock.type == LockType::kExclusive, waits,
                        news || unlocks, unlocks, false});
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

std::vector<LockEpochs::HeldLock> LockEpochs::clear() {
  std::vector<HeldLock> held;
  locks_.for_each([&](std::uint64_t window, const std::vector<Lock>& locks) {
    for (const Lock& lock : locks) {
      if (!checks(lock.type)) continue;
      held.push_back({window,
                      {lock.number, lock.target, lock.target, lock.type == LockType::kExclusive,
                       false, false, false, true}});
    }
  });
  locks_.clear();
  open_.clear();
  return held;
}

}  // namespace fathom::analysis
