// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/phases/call_loops.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace fathom::analysis {
namespace {

std::vector<std::uint64_t> hashes_of(const std::vector<CallItem>& items) {
  std::vector<std::uint64_t> hashes;
  for (const CallItem& item : items) hashes.push_back(item.hash);
  return hashes;
}

std::uint64_t hash_of_body(const std::vector<std::uint64_t>& hashes) {
  if (hashes.size() == 1) return hashes[0];
  std::uint64_t hash = base::mixed(hashes.size());
  for (const std::uint64_t item : hashes) hash = base::mixed(hash * 31 ^ item);
  return hash;
}

constexpr std::int64_t kNoLoop = -2;  // in loop_before
constexpr std::size_t kNear = 16;     // items between a loop and what goes on with it

// The same wherever in the circle the body begins.
std::uint64_t hash_of_circle(std::span<const CallItem> body) {
  std::uint64_t hash = body.size(), before = body.back().hash;
  for (const CallItem& item : body) {
    hash += base::mixed(before * 31 ^ item.hash);
    before = item.hash;
  }
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

// The items of the last iteration.
const std::vector<CallItem>& latest_of(const CallItem& loop) {
  if (loop.branch >= 0) return loop.branches[static_cast<std::size_t>(loop.branch)].items;
  return loop.second.empty() ? loop.body : loop.second;
}
std::vector<CallItem>& latest_of(CallItem& loop) {
  return const_cast<std::vector<CallItem>&>(latest_of(std::as_const(loop)));
}

void merge(CallItem& into, CallItem&& later);

// Merges the second of two iterations that was kept apart.
void settle(CallItem& loop) {
  for (std::size_t i = 0; i < loop.second.size(); ++i)
    merge(loop.body[i], std::move(loop.second[i]));
  loop.second.clear();
}

// Its place among the branches.
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

// Appends the items, closed, with those of outermost pairs in place of the pair.
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

void merge_contents(CallItem& into, CallItem&& later) {
  for (std::size_t i = 0; i < into.body.size(); ++i) merge(into.body[i], std::move(later.body[i]));
  into.branch = -1;
  for (std::size_t i = 0; i < later.branches.size(); ++i) {
    const std::int32_t at = add_branch(into.branches, std::move(later.branches[i]));
    if (later.branch == static_cast<std::int32_t>(i)) into.branch = at;
  }
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

// A loop that has one iteration so far.
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

// Counts one more iteration, with these items, of an open loop.
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

// Extends an open loop by one iteration with these items.
void extend(CallItem& loop, std::span<CallItem> items) {
  settle(loop);
  count_iteration(loop, items);
  for (std::size_t i = 0; i < items.size(); ++i) merge(loop.body[i], std::move(items[i]));
  loop.branch = -1;
}

// Whether these items continue the loop at the end of `loop`'s last iteration, or a loop at the end
// of that one.
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

}  // namespace

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

CallLoops CallLoops::again() const {
  CallLoops loops;
  loops.branches_ = branches_;
  loops.branches_by_end_ = branches_by_end_;
  loops.bodies_ = bodies_;
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
  if (!same && !is_branch(loop, after)) return false;
  for (std::size_t i = items_.size(); --i > at;) unchain(items_[i]);
  if (same) {
    extend(loop, after);
    if (loop.iterations.last == kFewest && loop.body.size() > 1) remember(loop.body);
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
  if (!same_hashes(all.subspan(last + 1 - width, width), tail) || begins_elsewhere(tail))
    return false;
  std::vector<CallItem> second = pop(width), body = pop(width);
  if (learn_branches(body)) {
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
      before.body.size() != last.body.size() || !branches_.find(last.hash))
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
  if (branches_.size() == 0) return false;
  for (std::size_t width = 1; width <= kNear && width < items_.size(); ++width) {
    const std::size_t at = items_.size() - 1 - width;
    if (items_[at].is_loop() && fold_into_loop(at)) return true;
  }
  return false;
}

// A known loop of two iterations of which one takes a branch. join_loops() and its like add that.
bool CallLoops::begin_with_branch() {
  const std::vector<KnownBranch>* known = branches_by_end_.find(items_.back().hash);
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
  const std::vector<Hashes>* known = branches_.find(loop.hash);
  if (!known) return false;
  const std::span<const CallItem> before(items_.data(), items_.size() - 1);
  for (const Hashes& branch : *known) {
    if (branch.size() > before.size() || !is_branch(loop, before.last(branch.size()))) continue;
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

bool CallLoops::is_branch(const CallItem& loop, std::span<const CallItem> items) const {
  const std::vector<Hashes>* known = branches_.find(loop.hash);
  if (!known) return false;
  return std::any_of(known->begin(), known->end(),
                     [items](const Hashes& branch) { return has_hashes(items, branch); });
}

// Where a loop with this body begins.
void CallLoops::remember(const std::vector<CallItem>& body) {
  Hashes& known = bodies_[hash_of_circle(body)];
  if (known.empty()) known = hashes_of(body);
}

// Whether a loop with this body is known to begin with another of its items.
bool CallLoops::begins_elsewhere(std::span<const CallItem> body) const {
  if (body.size() < 2 || bodies_.size() == 0) return false;
  const Hashes* known = bodies_.find(hash_of_circle(body));
  if (!known || known->size() != body.size()) return false;
  const auto begins_at = [&](std::size_t first) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (body[(first + i) % body.size()].hash != (*known)[i]) return false;
    }
    return true;
  };
  if (begins_at(0)) return false;
  for (std::size_t first = 1; first < body.size(); ++first) {
    if (begins_at(first)) return true;
  }
  return false;
}

// Looks for branches of the loops in one iteration of what seems to be a loop around them. True if
// one is new: the items then have to be folded again.
bool CallLoops::learn_branches(const std::vector<CallItem>& body) {
  bool learned = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    // The loop, and the one at the end of its last iteration, and so on.
    for (const CallItem* loop = &body[i]; loop->is_loop(); loop = &latest_of(*loop).back()) {
      if (loop->body.size() > 1 && loop->open && loop->iterations.last >= kFewest)
        learned = learn_branch(*loop, body, i) || learned;
    }
  }
  return learned;
}

// What comes between two runs of a loop, of which the first ends with body[at].
bool CallLoops::learn_branch(const CallItem& loop, const std::vector<CallItem>& body,
                             std::size_t at) {
  const auto most_calls = kLongestBranch * (loop.calls / loop.iterations.count);
  std::vector<const CallItem*> branch;
  std::uint64_t calls = 0;
  bool ends_alike = false;
  for (std::size_t by = 1; by < body.size() && !ends_alike; ++by) {
    const CallItem& item = body[(at + by) % body.size()];
    if (item.hash == loop.hash) break;
    calls += item.calls;
    branch.push_back(&item);
    ends_alike = item.hash == loop.body.back().hash;
  }
  if (branch.empty() || calls > most_calls) return false;
  if (!ends_alike && branch.front()->hash != loop.body.front().hash) return false;
  // Not one more iteration after or before other calls.
  const auto same = [](const CallItem& a, const CallItem* b) { return a.hash == b->hash; };
  if (branch.size() >= loop.body.size() &&
      (std::equal(loop.body.begin(), loop.body.end(), branch.begin(), same) ||
       std::equal(loop.body.rbegin(), loop.body.rend(), branch.rbegin(), same)))
    return false;
  Hashes hashes, own = hashes_of(loop.body);
  for (const CallItem* item : branch) hashes.push_back(item->hash);
  if (!ends_alike) begin_earlier(body, at, own, hashes);
  std::vector<Hashes>& known = branches_[hash_of_body(own)];
  if (known.size() == kMostBranches || std::find(known.begin(), known.end(), hashes) != known.end())
    return false;
  branches_by_end_[own.back()].push_back({own, hashes});
  if (hashes.back() != own.back()) branches_by_end_[hashes.back()].push_back({own, hashes});
  known.push_back(std::move(hashes));
  return true;
}

// In "xyb ab ab ab xyb ab ab ab" the loop seems to be "ba", with a branch "bxy", because the first
// iteration took the branch. What both begin with belongs to their ends if the rest of the branch
// comes before the loop.
void CallLoops::begin_earlier(const std::vector<CallItem>& body, std::size_t at, Hashes& own,
                              Hashes& branch) {
  const auto [last, last_of_branch] =
      std::mismatch(own.begin(), own.end(), branch.begin(), branch.end());
  if (last == own.end() || last_of_branch == branch.end()) return;
  // How many of the branch's last items come before the loop: all if it begins with the branch.
  std::size_t count = 0;
  while (count < branch.size()) {
    const CallItem* item = count < at                   ? &body[at - 1 - count]
                           : count - at < items_.size() ? &items_[items_.size() - 1 - (count - at)]
                                                        : nullptr;
    if (!item || item->hash != branch[branch.size() - 1 - count]) break;
    ++count;
  }
  if (static_cast<std::ptrdiff_t>(count) < branch.end() - last_of_branch || count == branch.size())
    return;
  std::rotate(own.begin(), last, own.end());
  std::rotate(branch.begin(), last_of_branch, branch.end());
  bodies_[hash_of_circle(body[at].body)] = own;
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
