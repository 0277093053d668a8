// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/phases/call_items.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/flat_map.h"

namespace fathom::analysis {
namespace {

void merge(CallItem& into, CallItem&& later);

std::vector<CallItem>& latest_of(CallItem& loop) {
  return const_cast<std::vector<CallItem>&>(latest_of(std::as_const(loop)));
}

// The last iteration ends where the loop ends.
void close(CallItem& item) {
  if (!item.open) return;
  item.open = false;
  Iterations& all = item.iterations;
  all.ended(item.last_begin_ns, item.end_ns);
  all.fewest = std::min(all.fewest, all.last);
  all.most = std::max(all.most, all.last);
}

// Closes all loops in it, innermost first.
void close_all(CallItem& item) {
  settle(item);
  for (CallItem& inner : item.body) close_all(inner);
  for (CallBranch& branch : item.branches) {
    for (CallItem& inner : branch.items) close_all(inner);
  }
  close(item);
}

// Turns a call into a loop that ran once each time, because other iterations have a loop here.
void become_loop(CallItem& item) {
  if (item.is_loop()) return;
  CallItem body = item;
  body.alike_before = body.loop_before = -1;
  Iterations& all = item.iterations;
  all.count = all.entered = item.calls;
  all.last = 1;
  if (item.calls > 1) all.fewest = all.most = 1;
  item.last_begin_ns = body.begin_ns;
  item.body.push_back(std::move(body));
  item.open = true;
}

// Merges the same item of a later iteration.
void merge(CallItem& into, CallItem&& later) {
  const bool loops = into.is_loop() || later.is_loop();
  if (loops) {
    become_loop(into);
    become_loop(later);
    settle(into);
    settle(later);
    close(into);
    into.iterations.merge(later.iterations);
    into.last_begin_ns = later.last_begin_ns;
    into.open = later.open;
  }
  into.end_ns = later.end_ns;
  into.calls += later.calls;
  if (loops) merge_contents(into, std::move(later));
}

}  // namespace

Hashes hashes_of(const std::vector<CallItem>& items) {
  Hashes hashes;
  for (const CallItem& item : items) hashes.push_back(item.hash);
  return hashes;
}

std::uint64_t hash_of_body(const Hashes& hashes) {
  if (hashes.size() == 1) return hashes[0];
  std::uint64_t hash = base::mixed(hashes.size());
  for (const std::uint64_t item : hashes) hash = base::mixed(hash * 31 ^ item);
  return hash;
}

bool same_hashes(std::span<const CallItem> items, std::span<const CallItem> others) {
  return std::equal(items.begin(), items.end(), others.begin(), others.end(),
                    [](const CallItem& a, const CallItem& b) { return a.hash == b.hash; });
}

bool has_hashes(std::span<const CallItem> items, std::span<const std::uint64_t> hashes) {
  return std::equal(items.begin(), items.end(), hashes.begin(), hashes.end(),
                    [](const CallItem& item, std::uint64_t hash) { return item.hash == hash; });
}

const std::vector<CallItem>& latest_of(const CallItem& loop) {
  if (loop.branch >= 0) return loop.branches[static_cast<std::size_t>(loop.branch)].items;
  return loop.second.empty() ? loop.body : loop.second;
}

void settle(CallItem& loop) {
  for (std::size_t i = 0; i < loop.second.size(); ++i)
    merge(loop.body[i], std::move(loop.second[i]));
  loop.second.clear();
}

std::int32_t add_branch(std::vector<CallBranch>& branches, CallBranch&& other) {
  std::size_t at = 0;
  while (at < branches.size() && !same_hashes(branches[at].items, other.items)) ++at;
  if (at == branches.size()) {
    branches.push_back(std::move(other));
  } else {
    branches[at].iterations += other.iterations;
    for (std::size_t i = 0; i < other.items.size(); ++i)
      merge(branches[at].items[i], std::move(other.items[i]));
  }
  return static_cast<std::int32_t>(at);
}

void take_apart(std::vector<CallItem>& items, std::vector<CallItem>& all) {
  for (CallItem& item : items) {
    if (!item.second.empty()) {
      take_apart(item.body, all);
      take_apart(item.second, all);
    } else {
      close_all(item);
      all.push_back(std::move(item));
    }
  }
}

void merge_contents(CallItem& into, CallItem&& later) {
  for (std::size_t i = 0; i < into.body.size(); ++i) merge(into.body[i], std::move(later.body[i]));
  into.branch = -1;
  for (std::size_t i = 0; i < later.branches.size(); ++i) {
    const std::int32_t at = add_branch(into.branches, std::move(later.branches[i]));
    if (later.branch == static_cast<std::int32_t>(i)) into.branch = at;
  }
}

CallItem once_through(std::vector<CallItem> body) {
  CallItem loop;
  loop.begin_ns = loop.last_begin_ns = body.front().begin_ns;
  loop.calls = 0;
  for (CallItem& item : body) {
    item.alike_before = item.loop_before = -1;
    loop.calls += item.calls;
    loop.end_ns = std::max(loop.end_ns, item.end_ns);
  }
  loop.body = std::move(body);
  loop.hash = hash_of_body(hashes_of(loop.body));
  loop.iterations.count = loop.iterations.last = 1;
  loop.open = true;
  return loop;
}

void count_iteration(CallItem& loop, std::span<const CallItem> items) {
  loop.iterations.ended(loop.last_begin_ns, items.front().begin_ns);
  loop.last_begin_ns = items.front().begin_ns;
  ++loop.iterations.count;
  ++loop.iterations.last;
  for (const CallItem& item : items) {
    loop.calls += item.calls;
    loop.end_ns = std::max(loop.end_ns, item.end_ns);
  }
}

void extend(CallItem& loop, std::span<CallItem> items) {
  settle(loop);
  count_iteration(loop, items);
  for (std::size_t i = 0; i < items.size(); ++i) merge(loop.body[i], std::move(items[i]));
  loop.branch = -1;
}

bool go_on_in(CallItem& loop, std::span<CallItem> items, std::uint64_t calls,
              std::uint64_t end_ns) {
  CallItem& last = latest_of(loop).back();
  const bool once = !last.is_loop() && items.size() == 1 && items[0].hash == last.hash;
  const bool alike = last.is_loop() && last.open && same_hashes(items, last.body);
  if (once) become_loop(last);
  if (once || alike) {
    extend(last, items);
  } else if (!last.is_loop() || !go_on_in(last, items, calls, end_ns)) {
    return false;
  }
  loop.calls += calls;
  loop.end_ns = std::max(loop.end_ns, end_ns);
  return true;
}

void Iterations::ended(std::uint64_t begin_ns, std::uint64_t end_ns) {
  const std::uint64_t ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
  sum_ns += ns;
  const double before = static_cast<double>(ns) - mean_ns;
  mean_ns += before / static_cast<double>(++timed);
  squares_ns2 += before * (static_cast<double>(ns) - mean_ns);
  shortest_ns = std::min(shortest_ns, ns);
  if (ns <= longest_ns) return;
  longest_ns = ns;
  longest_at_ns = begin_ns;
}

double Iterations::deviation_ns() const {
  return timed > 0 ? std::sqrt(squares_ns2 / static_cast<double>(timed)) : 0;
}

void Iterations::merge(const Iterations& other) {
  count += other.count;
  entered += other.entered;
  last = other.last;
  fewest = std::min(fewest, other.fewest);
  most = std::max(most, other.most);
  sum_ns += other.sum_ns;
  if (other.timed > 0) {  // T. F. Chan et al., Updating Formulae, COMPSTAT 1982, equation 2.1
    const double mine = static_cast<double>(timed), theirs = static_cast<double>(other.timed);
    const double apart = other.mean_ns - mean_ns;
    mean_ns += apart * theirs / (mine + theirs);
    squares_ns2 += other.squares_ns2 + apart * apart * mine * theirs / (mine + theirs);
    timed += other.timed;
  }
  shortest_ns = std::min(shortest_ns, other.shortest_ns);
  if (other.longest_ns <= longest_ns) return;
  longest_ns = other.longest_ns;
  longest_at_ns = other.longest_at_ns;
}

}  // namespace fathom::analysis
