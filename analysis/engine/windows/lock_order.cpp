// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/windows/lock_order.h"

#include <algorithm>
#include <bit>
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
    window.releases[hold->target].all.push_back(hold);
  }
  window.pending.push_back(call);
}

// In order of time, so that those which overlap a call lie together.
void LockOrder::Releases::sort() {
  const auto earlier = [](const std::shared_ptr<Hold>& a, const std::shared_ptr<Hold>& b) {
    return std::tie(a->unlock_ns, a->process) < std::tie(b->unlock_ns, b->process);
  };
  if (sorted == all.size()) return;
  const auto added = all.begin() + static_cast<std::ptrdiff_t>(sorted);
  std::sort(added, all.end(), earlier);
  std::inplace_merge(all.begin(), added, all.end(), earlier);
  changed();
}

void LockOrder::Releases::changed() {
  sorted = all.size();
  const std::size_t leaves = std::bit_ceil(sorted);
  latest_ns.assign(2 * leaves, 0);
  for (std::size_t i = 0; i < sorted; ++i) latest_ns[leaves + i] = all[i]->unlocked_ns;
  for (std::size_t i = leaves - 1; i > 0; --i)
    latest_ns[i] = std::max(latest_ns[2 * i], latest_ns[2 * i + 1]);
}

template <typename Visit>
std::uint64_t LockOrder::Releases::overlapping(std::uint64_t from_ns, std::uint64_t to_ns,
                                               Visit visit) const {
  std::uint64_t looked_at = 0;
  const std::size_t leaves = latest_ns.size() / 2;
  std::vector<std::size_t> nodes;
  if (leaves > 0) nodes.push_back(1);
  while (!nodes.empty()) {
    const std::size_t node = nodes.back();
    nodes.pop_back();
    ++looked_at;
    if (latest_ns[node] <= from_ns) continue;
    if (node >= leaves) {
      const std::shared_ptr<Hold>& hold = all[node - leaves];
      if (hold->unlock_ns >= to_ns) return looked_at;  // and so are those that follow
      visit(hold);
      continue;
    }
    nodes.push_back(2 * node + 1);
    nodes.push_back(2 * node);
  }
  return looked_at;
}

// While an open call holds up all others, nothing can be judged, and nothing is looked at.
void LockOrder::settle(std::uint64_t until_ns, std::vector<LockEdge>& edges) {
  if (until_ns <= settled_until_ns_) return;
  settled_until_ns_ = until_ns;
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
    for (auto& [target, releases] : window.releases) releases.sort();
    for (auto call = pending.begin(); call != later; ++call) judge(window, *call);
    pending.erase(pending.begin(), later);
    // A lock whose end is not in the trace must not keep others from theirs.
    if (until_ns == kAtTheEnd) window.holds.clear();
    retire(window, until_ns, edges);
    const bool over = window.holds.empty() && window.releases.empty() && pending.empty();
    at = over ? windows_.erase(at) : std::next(at);
  }
}

std::size_t LockOrder::kept() const {
  std::size_t kept = 0;
  for (const auto& [name, window] : windows_) {
    kept += window.holds.size();
    for (const auto& [target, releases] : window.releases) kept += releases.all.size();
  }
  return kept;
}

// In the order in which calls were left, so a process that had the lock before has been judged before.
void LockOrder::judge(Window& window, const LockCall& call) {
  const Key key{call.process, call.attempt.lock};
  const std::shared_ptr<Hold> hold = window.holds[key];
  const LockEpochs::Attempt& attempt = call.attempt;
  if (attempt.waits && call.hears != LockCall::kNone) {
    Waiting waiting{{call.process, call.hears, call.enter_ns, call.leave_ns}, attempt.target, {}};
    if (attempt.target == kAll) {
      for (const auto& [target, releases] : window.releases)
        find_releases(releases, call, *hold, waiting);
    } else {
      for (const std::int32_t target : {kAll, attempt.target}) {
        const auto found = window.releases.find(target);
        if (found != window.releases.end()) find_releases(found->second, call, *hold, waiting);
      }
    }
    if (!waiting.releases.empty()) hold->waiting.push_back(std::move(waiting));
  }
  if (attempt.has_lock) has_lock(*hold, call);
  if (attempt.releases || attempt.lost) window.holds.erase(key);
}

void LockOrder::find_releases(const Releases& releases, const LockCall& call, const Hold& hold,
                              Waiting& waiting) {
  compared_ +=
      releases.overlapping(call.enter_ns, call.leave_ns, [&](const std::shared_ptr<Hold>& release) {
        if ((release->exclusive || hold.exclusive) && release->process != call.process)
          waiting.releases.push_back(release);
      });
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
  for (auto at = window.releases.begin(); at != window.releases.end();) {
    retire(at->second, until_ns, edges);
    at = at->second.all.empty() ? window.releases.erase(at) : std::next(at);
  }
}

void LockOrder::retire(Releases& releases, std::uint64_t until_ns, std::vector<LockEdge>& edges) {
  const auto over = [&](const std::shared_ptr<Hold>& hold) {
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
  };
  if (std::erase_if(releases.all, over) > 0) releases.changed();
}

}  // namespace fathom::analysis
