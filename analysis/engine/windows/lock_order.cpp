// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/windows/lock_order.h"

#include <algorithm>
#include <tuple>

namespace fathom::analysis {
namespace {

constexpr std::int32_t kAll = LockEpochs::kAll;

bool overlap(std::int32_t a, std::int32_t b) { return a == b || a == kAll || b == kAll; }

}  // namespace

bool LockOrder::Hold::has(std::int32_t at) const {
  return had_all ||
         (at == kAll ? !had.empty() : std::find(had.begin(), had.end(), at) != had.end());
}

// The release is known from here on, because a call that is judged earlier may have waited for it.
void LockOrder::add(const LockCall& call) {
  Window& window = windows_[{call.window.communicator, call.window.number}];
  auto& hold = window.holds[{call.process, call.attempt.lock}];
  if (hold == nullptr) {
    hold = std::make_shared<Hold>();
    hold->process = call.process;
    hold->target = call.attempt.lock_target;
    hold->exclusive = call.attempt.exclusive;
  }
  if (call.attempt.releases) {
    hold->release = call.tells;
    hold->unlock_ns = hold->released_ns = call.enter_ns;
    hold->unlocked_ns = call.leave_ns;
    window.releases.push_back(hold);
  }
  window.pending.push_back(call);
}

void LockOrder::settle(std::uint64_t until_ns, std::vector<LockEdge>& edges) {
  const auto in_order = [](const LockCall& a, const LockCall& b) {
    return std::tie(a.leave_ns, a.process, a.hears, a.attempt.lock) <
           std::tie(b.leave_ns, b.process, b.hears, b.attempt.lock);
  };
  for (auto at = windows_.begin(); at != windows_.end();) {
    Window& window = at->second;
    std::vector<LockCall>& pending = window.pending;
    const auto later = std::partition(pending.begin(), pending.end(), [&](const LockCall& call) {
      return call.leave_ns < until_ns;
    });
    std::sort(pending.begin(), later, in_order);
    for (auto call = pending.begin(); call != later; ++call) judge(window, *call);
    pending.erase(pending.begin(), later);
    retire(window, until_ns, edges);
    const bool over = window.holds.empty() && window.releases.empty() && pending.empty();
    at = over ? windows_.erase(at) : std::next(at);
  }
}

std::size_t LockOrder::kept() const {
  std::size_t kept = 0;
  for (const auto& [name, window] : windows_) kept += window.holds.size() + window.releases.size();
  return kept;
}

// In the order in which calls were left, so a process that had the lock before has been judged before.
void LockOrder::judge(Window& window, const LockCall& call) {
  const Key key{call.process, call.attempt.lock};
  const std::shared_ptr<Hold> hold = window.holds[key];
  const LockEpochs::Attempt& attempt = call.attempt;
  if (attempt.waits && call.hears != LockCall::kNone) {
    Waiting waiting{{call.process, call.hears, call.enter_ns, call.leave_ns}, attempt.target, {}};
    for (const std::shared_ptr<Hold>& release : window.releases) {
      const bool conflict =
          (release->exclusive || hold->exclusive) && overlap(release->target, attempt.target);
      if (conflict && release->process != call.process && release->unlock_ns < call.leave_ns &&
          release->unlocked_ns > call.enter_ns)
        waiting.releases.push_back(release);
    }
    if (!waiting.releases.empty()) hold->waiting.push_back(std::move(waiting));
  }
  if (attempt.has_lock) has_lock(*hold, call);
  if (attempt.releases) window.holds.erase(key);
}

void LockOrder::has_lock(Hold& hold, const LockCall& call) {
  const std::int32_t target = call.attempt.target;
  std::erase_if(hold.waiting, [&](const Waiting& waiting) {
    if (!overlap(waiting.target, target)) return false;
    Hold* last = nullptr;
    for (const std::shared_ptr<Hold>& release : waiting.releases) {
      const bool inside = release->released_ns > waiting.call.enter_ns &&
                          release->released_ns < waiting.call.leave_ns;
      const std::int32_t at = release->target != kAll ? release->target : waiting.target;
      if (!inside || !release->has(at)) continue;
      const bool later = last == nullptr || std::tie(release->released_ns, release->process) >
                                                std::tie(last->released_ns, last->process);
      if (later) last = release.get();
    }
    if (last == nullptr) return true;
    last->waiters.push_back(waiting.call);
    if (call.attempt.releases && waiting.call.step == call.hears)
      hold.released_ns = std::max(hold.released_ns, last->released_ns);
    return true;
  });
  if (call.attempt.releases || target == kAll) {
    hold.had_all = true;
  } else {
    hold.had.push_back(target);
  }
}

// Releases that no call can have waited for any more.
void LockOrder::retire(Window& window, std::uint64_t until_ns, std::vector<LockEdge>& edges) {
  for (const LockCall& call : window.pending) until_ns = std::min(until_ns, call.enter_ns);
  std::erase_if(window.releases, [&](const std::shared_ptr<Hold>& hold) {
    if (hold->unlocked_ns >= until_ns || hold.use_count() > 1) return false;
    std::vector<Waiter>& waiters = hold->waiters;
    std::sort(waiters.begin(), waiters.end(), [](const Waiter& a, const Waiter& b) {
      return std::tie(a.leave_ns, a.process, a.step) < std::tie(b.leave_ns, b.process, b.step);
    });
    for (std::size_t i = 0; i < waiters.size(); ++i) {
      LockEdge edge;
      edge.holder = hold->process;
      edge.release = hold->release;
      edge.waiter = waiters[i].process;
      edge.call = waiters[i].step;
      if (i + 1 < waiters.size()) {
        edge.next = waiters[i + 1].process;
        edge.next_call = waiters[i + 1].step;
      }
      edge.position = static_cast<std::uint32_t>(i);
      edge.of = static_cast<std::uint32_t>(waiters.size());
      edge.released_ns = hold->released_ns;
      edge.entered_ns = waiters[i].enter_ns;
      edges.push_back(edge);
    }
    return true;
  });
}

}  // namespace fathom::analysis
