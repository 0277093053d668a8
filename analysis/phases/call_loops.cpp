// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/phases/call_loops.h"

#include <algorithm>
#include <span>
#include <utility>

namespace fathom::analysis {
namespace {

std::uint64_t hash_of_body(const std::vector<CallItem>& body) {
  if (body.size() == 1) return body[0].hash;
  std::uint64_t hash = base::mixed(body.size());
  for (const CallItem& item : body) hash = base::mixed(hash * 31 ^ item.hash);
  return hash;
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
  for (CallItem& inner : item.body) close_all(inner);
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
  if (into.is_loop() || later.is_loop()) {
    become_loop(into);
    become_loop(later);
    close(into);
    into.iterations.merge(later.iterations);
    into.last_begin_ns = later.last_begin_ns;
    into.open = later.open;
    for (std::size_t i = 0; i < into.body.size(); ++i)
      merge(into.body[i], std::move(later.body[i]));
  }
  into.end_ns = later.end_ns;
  into.calls += later.calls;
}

// Extends an open loop by one iteration with these items.
void extend(CallItem& loop, std::span<CallItem> items) {
  loop.iterations.ended(loop.last_begin_ns, items.front().begin_ns);
  loop.last_begin_ns = items.front().begin_ns;
  ++loop.iterations.count;
  ++loop.iterations.last;
  for (std::size_t i = 0; i < items.size(); ++i) {
    loop.calls += items[i].calls;
    loop.end_ns = std::max(loop.end_ns, items[i].end_ns);
    merge(loop.body[i], std::move(items[i]));
  }
}

// Whether these items continue the loop at the end of `loop`'s last iteration, or a loop at the end
// of that one.
bool go_on_in(CallItem& loop, std::span<CallItem> items, std::uint64_t calls,
              std::uint64_t end_ns) {
  CallItem& last = loop.body.back();
  const bool once = !last.is_loop() && items.size() == 1 && items[0].hash == last.hash;
  const bool alike =
      last.is_loop() && last.open &&
      std::equal(items.begin(), items.end(), last.body.begin(), last.body.end(),
                 [](const CallItem& a, const CallItem& b) { return a.hash == b.hash; });
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

}  // namespace

void Iterations::ended(std::uint64_t begin_ns, std::uint64_t end_ns) {
  const std::uint64_t ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
  sum_ns += ns;
  squares_ns2 += static_cast<double>(ns) * static_cast<double>(ns);
  shortest_ns = std::min(shortest_ns, ns);
  if (ns <= longest_ns) return;
  longest_ns = ns;
  longest_at_ns = begin_ns;
}

void Iterations::merge(const Iterations& other) {
  count += other.count;
  entered += other.entered;
  last = other.last;
  fewest = std::min(fewest, other.fewest);
  most = std::max(most, other.most);
  sum_ns += other.sum_ns;
  squares_ns2 += other.squares_ns2;
  shortest_ns = std::min(shortest_ns, other.shortest_ns);
  if (other.longest_ns <= longest_ns) return;
  longest_ns = other.longest_ns;
  longest_at_ns = other.longest_at_ns;
}

void CallLoops::call(std::uint64_t symbol, std::uint32_t function, std::uint64_t enter_ns,
                     std::uint64_t leave_ns) {
  CallItem item;
  item.hash = base::mixed(symbol);
  item.begin_ns = enter_ns;
  item.end_ns = leave_ns;
  item.function = function;
  push(std::move(item));
  while (fold()) {
  }
  if (items_.size() > kMostItems) drop_oldest();
}

std::vector<CallItem> CallLoops::finish() {
  for (CallItem& item : items_) close_all(item);
  return std::move(items_);
}

bool CallLoops::fold() {
  const CallItem& tail = items_.back();
  const std::int64_t* loops = latest_loop_.find(tail.hash);
  std::int64_t loop = loops ? *loops : -1, alike = tail.alike_before;
  // Nearest first, so that inner loops are folded before outer ones.
  for (int tries = 0; tries < kMostCandidates && (loop >= 0 || alike >= 0); ++tries) {
    if (loop >= alike) {
      if (fold_into_loop(static_cast<std::size_t>(loop))) return true;
      loop = items_[static_cast<std::size_t>(loop)].loop_before;
    } else {
      if (fold_pair(static_cast<std::size_t>(alike))) return true;
      alike = items_[static_cast<std::size_t>(alike)].alike_before;
    }
  }
  return go_on_inside();
}

// Continues the last inner loop of an iteration that had seemed complete.
bool CallLoops::go_on_inside() {
  constexpr std::size_t kNear = 16;
  std::size_t width = 1;
  while (width <= kNear && width < items_.size() && !items_[items_.size() - 1 - width].is_loop())
    ++width;
  if (width > kNear || width >= items_.size() || !items_[items_.size() - 1 - width].open)
    return false;
  const std::span<CallItem> tail(items_.data() + items_.size() - width, width);
  std::uint64_t calls = 0;
  for (const CallItem& item : tail) calls += item.calls;
  std::vector<CallItem> again(tail.begin(), tail.end());
  if (!go_on_in(items_[items_.size() - 1 - width], again, calls, tail.back().end_ns)) return false;
  for (std::size_t i = 0; i < width; ++i) pop();
  return true;
}

// The items after this loop are one more iteration of it.
bool CallLoops::fold_into_loop(std::size_t loop) {
  const std::size_t width = items_.size() - 1 - loop;
  const std::vector<CallItem>& body = items_[loop].body;
  if (width != body.size() || width == 0 || !items_[loop].open) return false;
  for (std::size_t i = 0; i < width; ++i) {
    if (body[i].hash != items_[loop + 1 + i].hash) return false;
  }
  std::vector<CallItem> again(width);
  for (std::size_t i = width; i-- > 0;) again[i] = pop();
  CallItem extended = pop();
  extend(extended, again);
  push(std::move(extended));
  return true;
}

// The items up to `last` equal those after it: two iterations of a new loop.
bool CallLoops::fold_pair(std::size_t last) {
  const std::size_t width = items_.size() - 1 - last;
  if (last + 1 < width || (width == 1 && items_[last].is_loop()))
    return false;  // such a loop is closed
  const std::size_t first = last + 1 - width;
  for (std::size_t i = 0; i < width; ++i) {
    if (items_[first + i].hash != items_[last + 1 + i].hash) return false;
  }
  std::vector<CallItem> second(width), body(width);
  for (std::size_t i = width; i-- > 0;) second[i] = pop();
  for (std::size_t i = width; i-- > 0;) body[i] = pop();
  CallItem loop;
  loop.begin_ns = loop.last_begin_ns = body.front().begin_ns;
  loop.calls = 0;
  for (CallItem& item : body) {
    item.alike_before = item.loop_before = -1;
    loop.calls += item.calls;
    loop.end_ns = std::max(loop.end_ns, item.end_ns);
  }
  loop.body = std::move(body);
  loop.hash = hash_of_body(loop.body);
  loop.iterations.count = loop.iterations.last = 1;
  loop.open = true;
  extend(loop, second);
  push(std::move(loop));
  return true;
}

void CallLoops::push(CallItem item) {
  const auto here = static_cast<std::int64_t>(items_.size());
  const auto chain = [here](base::FlatMap<std::uint64_t, std::int64_t>& latest,
                            std::uint64_t hash) {
    std::int64_t* known = latest.find(hash);
    const std::int64_t before = known ? *known : -1;
    latest[hash] = here;
    return before;
  };
  item.alike_before = chain(latest_alike_, item.hash);
  item.loop_before = item.is_loop() ? chain(latest_loop_, item.body.back().hash) : -1;
  items_.push_back(std::move(item));
}

CallItem CallLoops::pop() {
  CallItem item = std::move(items_.back());
  items_.pop_back();
  const auto unchain = [](base::FlatMap<std::uint64_t, std::int64_t>& latest, std::uint64_t hash,
                          std::int64_t before) {
    if (before >= 0) {
      latest[hash] = before;
    } else {
      latest.erase(hash);
    }
  };
  unchain(latest_alike_, item.hash, item.alike_before);
  if (item.is_loop()) unchain(latest_loop_, item.body.back().hash, item.loop_before);
  return item;
}

// From the older half, drops single calls, because a sequence that does not repeat is not a phase;
// drops loops too if there are too many.
void CallLoops::drop_oldest() {
  std::vector<CallItem> old = std::move(items_);
  items_.clear();
  latest_alike_.clear();
  latest_loop_.clear();
  const bool many_loops = std::count_if(old.begin(), old.end(), [](const CallItem& item) {
                            return item.is_loop();
                          }) > std::ssize(old) / 4;
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (i < old.size() / 2 && (many_loops || !old[i].is_loop())) {
      dropped_calls_ += old[i].calls;
    } else {
      close_all(old[i]);
      push(std::move(old[i]));
    }
  }
}

}  // namespace fathom::analysis
