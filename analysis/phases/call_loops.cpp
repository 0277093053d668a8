// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/phases/call_loops.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fathom::analysis {
namespace {

constexpr std::int64_t kNoLoop = -2;  // in loop_before
constexpr std::size_t kNear = 16;     // items between a loop and what goes on with it

}  // namespace

CallLoops CallLoops::again() const {
  CallLoops loops;
  loops.known_ = known_;
  return loops;
}

void CallLoops::call(std::uint64_t symbol, std::uint32_t function, std::uint32_t site,
                     std::uint64_t enter_ns, std::uint64_t leave_ns) {
  CallItem item;
  item.hash = base::mixed(symbol);
  item.begin_ns = enter_ns;
  item.end_ns = leave_ns;
  item.function = function;
  item.site = site;
  add(std::move(item));
  if (items_.size() > kMostItems) drop_oldest();
}

void CallLoops::add(CallItem item) {
  push(std::move(item));
  while (fold()) {
  }
}

std::vector<CallItem> CallLoops::finish() {
  std::vector<CallItem> all;
  take_apart(items_, all);
  return all;
}

bool CallLoops::fold() {
  if (join_loops() || take_branch_before()) return true;
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
  return take_branch_after() || begin_with_branch() || go_on_inside();
}

// Continues the last inner loop of an iteration that had seemed complete.
bool CallLoops::go_on_inside() {
  std::size_t width = 1;
  while (width <= kNear && width < items_.size() && !items_[items_.size() - 1 - width].is_loop())
    ++width;
  if (width > kNear || width >= items_.size() || !items_[items_.size() - 1 - width].open)
    return false;
  const std::span<CallItem> tail(items_.data() + items_.size() - width, width);
  std::uint64_t calls = 0;
  for (const CallItem& item : tail) calls += item.calls;
  if (!go_on_in(items_[items_.size() - 1 - width], tail, calls, tail.back().end_ns)) return false;
  for (std::size_t i = 0; i < width; ++i) pop();
  return true;
}

// The items after this loop are one more iteration of it.
bool CallLoops::fold_into_loop(std::size_t at) {
  CallItem& loop = items_[at];
  if (!loop.open) return false;
  const std::span<CallItem> after(items_.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                  items_.end());
  const bool same = !after.empty() && same_hashes(after, loop.body);
  if (!same && !known_.is_branch(loop, after)) return false;
  for (std::size_t i = items_.size(); --i > at;) unchain(items_[i]);
  if (same) {
    extend(loop, after);
    if (loop.iterations.last == KnownLoops::kFewest && loop.body.size() > 1)
      known_.remember(loop.body);
  } else {
    settle(loop);
    count_iteration(loop, after);
    loop.branch = add_branch(
        loop.branches,
        {1, {std::make_move_iterator(after.begin()), std::make_move_iterator(after.end())}});
  }
  items_.resize(at + 1);
  return true;
}

// The items up to `last` equal those after it: two iterations of a new loop.
bool CallLoops::fold_pair(std::size_t last) {
  const std::size_t width = items_.size() - 1 - last;
  if (last + 1 < width || (width == 1 && items_[last].is_loop()))
    return false;  // such a loop is closed
  const std::span<const CallItem> all(items_);
  const std::span<const CallItem> tail = all.subspan(last + 1, width);
  if (!same_hashes(all.subspan(last + 1 - width, width), tail) || known_.begins_elsewhere(tail))
    return false;
  std::vector<CallItem> second = pop(width), body = pop(width);
  if (known_.learn_branches(body, items_)) {
    for (std::vector<CallItem>* items : {&body, &second}) {
      for (CallItem& item : *items) add(std::move(item));
    }
    return true;
  }
  CallItem loop = once_through(std::move(body));
  count_iteration(loop, second);
  loop.second = std::move(second);
  if (std::none_of(loop.body.begin(), loop.body.end(),
                   [](const CallItem& item) { return item.is_loop(); }))
    settle(loop);
  push(std::move(loop));
  return true;
}

// Two loops that were apart until what lay between them became an iteration of the first.
bool CallLoops::join_loops() {
  if (items_.size() < 2) return false;
  const CallItem& last = items_.back();
  const CallItem& before = items_[items_.size() - 2];
  if (!last.is_loop() || !before.open || before.hash != last.hash ||
      before.body.size() != last.body.size() || known_.branches_of(last.hash) == nullptr)
    return false;
  CallItem later = pop(), loop = pop();
  settle(loop);
  settle(later);
  Iterations& all = loop.iterations;
  all.ended(loop.last_begin_ns, later.begin_ns);
  const std::uint64_t entered = all.entered, run = all.last + later.iterations.last;
  all.merge(later.iterations);
  all.entered = entered;
  all.last = run;
  loop.last_begin_ns = later.last_begin_ns;
  loop.open = later.open;
  loop.calls += later.calls;
  loop.end_ns = later.end_ns;
  merge_contents(loop, std::move(later));
  push(std::move(loop));
  return true;
}

// A loop that goes on with a branch that ends in another call.
bool CallLoops::take_branch_after() {
  if (!known_.has_branches()) return false;
  for (std::size_t width = 1; width <= kNear && width < items_.size(); ++width) {
    const std::size_t at = items_.size() - 1 - width;
    if (items_[at].is_loop() && fold_into_loop(at)) return true;
  }
  return false;
}

// A known loop of two iterations of which one takes a branch. join_loops() and its like add that.
bool CallLoops::begin_with_branch() {
  const std::vector<KnownLoops::KnownBranch>* known = known_.ending_with(items_.back().hash);
  if (!known) return false;
  const std::span<const CallItem> all(items_);
  const auto ends_with = [](std::span<const CallItem> items, const Hashes& hashes) {
    return hashes.size() <= items.size() && has_hashes(items.last(hashes.size()), hashes);
  };
  for (const auto& [body, branch] : *known) {
    const bool after =
        ends_with(all, branch) && ends_with(all.first(all.size() - branch.size()), body);
    const bool before =
        ends_with(all, body) && ends_with(all.first(all.size() - body.size()), branch);
    if (!after && !before) continue;
    std::vector<CallItem> rest = pop(after ? branch.size() : 0);
    push(once_through(pop(body.size())));
    for (CallItem& item : rest) push(std::move(item));
    return true;
  }
  return false;
}

// A loop that begins with one of its branches.
bool CallLoops::take_branch_before() {
  const CallItem& loop = items_.back();
  if (!loop.is_loop() || !loop.open) return false;
  const std::vector<Hashes>* known = known_.branches_of(loop.hash);
  if (!known) return false;
  const std::span<const CallItem> before(items_.data(), items_.size() - 1);
  for (const Hashes& branch : *known) {
    if (branch.size() > before.size() || !known_.is_branch(loop, before.last(branch.size())))
      continue;
    CallItem extended = pop();
    std::vector<CallItem> first = pop(branch.size());
    settle(extended);
    extended.iterations.ended(first.front().begin_ns, extended.begin_ns);
    ++extended.iterations.count;
    ++extended.iterations.last;
    extended.begin_ns = first.front().begin_ns;
    for (const CallItem& item : first) extended.calls += item.calls;
    add_branch(extended.branches, {1, std::move(first)});
    push(std::move(extended));
    return true;
  }
  return false;
}

std::vector<CallItem> CallLoops::pop(std::size_t count) {
  std::vector<CallItem> items(count);
  while (count-- > 0) items[count] = pop();
  return items;
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
  item.loop_before = item.is_loop() ? chain(latest_loop_, item.body.back().hash) : kNoLoop;
  items_.push_back(std::move(item));
}

// Of an item that push() took, even if its contents were merged since.
void CallLoops::unchain(const CallItem& item) {
  const auto remove = [](base::FlatMap<std::uint64_t, std::int64_t>& latest, std::uint64_t hash,
                         std::int64_t before) {
    if (before >= 0) {
      latest[hash] = before;
    } else {
      latest.erase(hash);
    }
  };
  remove(latest_alike_, item.hash, item.alike_before);
  if (item.loop_before != kNoLoop) remove(latest_loop_, item.body.back().hash, item.loop_before);
}

CallItem CallLoops::pop() {
  unchain(items_.back());
  CallItem item = std::move(items_.back());
  items_.pop_back();
  return item;
}

// From the older half, drops single calls, because a sequence that does not repeat is not a phase;
// drops loops too if there are too many.
void CallLoops::drop_oldest() {
  std::vector<CallItem> old;
  take_apart(items_, old);
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
      push(std::move(old[i]));
    }
  }
}

}  // namespace fathom::analysis
