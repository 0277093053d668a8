// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/lateness/partitions.h"

#include <algorithm>
#include <numeric>

namespace fathom::analysis {
namespace {

class Union {
 public:
  explicit Union(std::size_t size) : up_(size) { std::iota(up_.begin(), up_.end(), 0u); }
  std::uint32_t find(std::uint32_t one) {
    while (up_[one] != one) one = up_[one] = up_[up_[one]];
    return one;
  }
  // The smaller number represents both.
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    (a < b ? up_[b] : up_[a]) = std::min(a, b);
  }

 private:
  ScratchVector<std::uint32_t> up_;
};

// Consecutive numbers, in the order of the first event of each.
std::uint32_t numbered(Union& joined, ScratchVector<std::uint32_t>& of) {
  ScratchVector<std::uint32_t> number(of.size(), kNobody);
  std::uint32_t count = 0;
  for (std::uint32_t event = 0; event < of.size(); ++event) {
    CommEvents::touched(event);
    std::uint32_t& here = number[joined.find(event)];
    if (here == kNobody) here = count++;
    of[event] = here;
  }
  return count;
}

ScratchVector<std::uint32_t> connected(const CommEvents& all, std::uint32_t& count) {
  Union joined(all.events.size());
  all.each([&](std::uint32_t event) {
    for (const std::uint32_t sender : all.senders.of(event)) joined.join(sender, event);
  });
  for (std::size_t group = 0; group < all.groups(); ++group) {
    const auto members = all.members.of(group);
    for (const std::uint32_t member : members) joined.join(members.front(), member);
    for (const std::uint32_t completion : all.completions.of(group)) {
      if (!members.empty()) joined.join(members.front(), completion);
    }
  }
  ScratchVector<std::uint32_t> of(all.events.size());
  count = numbered(joined, of);
  return of;
}

// Calls take(earlier event) where the next event on its process is in another partition.
template <typename Take>
void each_border(const CommEvents& all, const ScratchVector<std::uint32_t>& of, Take take) {
  for (std::size_t process = 0; process + 1 < all.first_of.size(); ++process) {
    for (std::uint32_t event = all.first_of[process]; event + 1 < all.first_of[process + 1];
         ++event) {
      CommEvents::touched(event);
      if (of[event] != of[event + 1]) take(event);
    }
  }
}

Links successors(const CommEvents& all, const ScratchVector<std::uint32_t>& of, std::size_t count) {
  Links next;
  next.first.assign(count + 1, 0);
  each_border(all, of, [&](std::uint32_t event) { ++next.first[of[event] + 1]; });
  std::partial_sum(next.first.begin(), next.first.end(), next.first.begin());
  next.to.resize(next.first.back());
  ScratchVector<std::uint32_t> at(next.first.begin(), next.first.end() - 1);
  each_border(all, of, [&](std::uint32_t event) { next.to[at[of[event]]++] = of[event + 1]; });
  return next;
}

// Strongly connected components, numbered so that edges lead to larger numbers.
class Components {
 public:
  explicit Components(const Links& next)
      : next_(next),
        found_(next.first.size() - 1),
        low_(found_.size()),
        at_(next.first.begin(), next.first.end() - 1),
        component_(found_.size(), kNobody) {
    for (std::uint32_t node = 0; node < found_.size(); ++node) {
      if (found_[node] == 0) walk(node);
    }
    for (std::uint32_t& component : component_) component = count_ - 1 - component;
  }
  std::uint32_t count() const { return count_; }
  const ScratchVector<std::uint32_t>& of() const { return component_; }

 private:
  void walk(std::uint32_t root) {
    enter(root);
    while (!path_.empty()) {
      const std::uint32_t node = path_.back();
      if (at_[node] == next_.first[node + 1]) {
        leave(node);
        continue;
      }
      const std::uint32_t to = next_.to[at_[node]++];
      if (found_[to] == 0) {
        enter(to);
      } else if (component_[to] == kNobody) {
        low_[node] = std::min(low_[node], found_[to]);
      }
    }
  }
  void enter(std::uint32_t node) {
    found_[node] = low_[node] = ++counter_;
    path_.push_back(node);
    open_.push_back(node);
  }
  void leave(std::uint32_t node) {
    path_.pop_back();
    if (!path_.empty()) low_[path_.back()] = std::min(low_[path_.back()], low_[node]);
    if (low_[node] != found_[node]) return;
    for (bool more = true; more;) {
      more = open_.back() != node;
      component_[open_.back()] = count_;
      open_.pop_back();
    }
    ++count_;
  }

  const Links& next_;
  ScratchVector<std::uint32_t> found_, low_, at_, component_, path_, open_;
  std::uint32_t counter_ = 0, count_ = 0;
};

// From connected sets to ordered components and their leaps.
Partitioning ordered(const CommEvents& all, ScratchVector<std::uint32_t> of, std::size_t count) {
  Partitioning made;
  {
    const Components components(successors(all, of, count));
    for (std::uint32_t& set : of) set = components.of()[set];
    made.of = std::move(of);
    made.leap.resize(components.count());
  }
  const Links next = successors(all, made.of, made.size());
  for (std::uint32_t partition = 0; partition < made.size(); ++partition) {
    for (const std::uint32_t later : next.of(partition))
      made.leap[later] = std::max(made.leap[later], made.leap[partition] + 1);
  }
  return made;
}

// One attempt to complete a leap.
class Completion {
 public:
  Completion(const CommEvents& all, const Partitioning& now, std::uint32_t leap, bool force)
      : all_(all), now_(now), follows_(follows_of(all, now)), leap_(leap), joined_(now.size()) {
    std::iota(joined_.begin(), joined_.end(), 0u);
    find_processes();
    if (complete()) return;
    for (std::uint32_t partition = 0; partition < now.size(); ++partition) {
      if (now.leap[partition] == leap) look_at(partition);
    }
    if (!changed_ && force) absorb_next();
  }
  bool changed() const { return changed_; }
  const ScratchVector<std::uint32_t>& joined() const { return joined_; }

 private:
  void find_processes() {
    std::vector<std::vector<std::uint32_t>>& processes = processes_;
    processes.resize(now_.size());
    here_.resize(all_.first_of.size() - 1);
    all_.each([&](std::uint32_t event) {
      auto& own = processes[now_.of[event]];
      const std::uint32_t process = all_.events[event].process;
      if (own.empty() || own.back() != process) own.push_back(process);
      if (now_.leap[now_.of[event]] == leap_) here_[process] = true;
    });
  }
  bool complete() const {
    return std::all_of(here_.begin(), here_.end(), [](bool here) { return here; });
  }

  void look_at(std::uint32_t partition) {
    std::uint64_t in_ns = ~std::uint64_t{0}, out_ns = ~std::uint64_t{0};
    for (const Follows& edge : follows_) {
      if (edge.later == partition && now_.leap[edge.earlier] + 1 == leap_)
        in_ns = std::min(in_ns, edge.gap_ns);
      if (edge.earlier == partition && now_.leap[edge.later] == leap_ + 1)
        out_ns = std::min(out_ns, edge.gap_ns);
    }
    const bool belongs_before = in_ns != ~std::uint64_t{0} && out_ns / 10 > in_ns;
    for (const Follows& edge : follows_) {
      if (belongs_before) {
        if (edge.later == partition && now_.leap[edge.earlier] + 1 == leap_)
          join(edge.earlier, partition);
      } else if (edge.earlier == partition && now_.leap[edge.later] == leap_ + 1 &&
                 adds_a_process(edge.later)) {
        join(partition, edge.later);
      }
    }
  }
  bool adds_a_process(std::uint32_t partition) const {
    const auto& own = processes_[partition];
    return std::any_of(own.begin(), own.end(),
                       [&](std::uint32_t process) { return !here_[process]; });
  }
  void absorb_next() {
    for (const Follows& edge : follows_) {
      if (now_.leap[edge.earlier] == leap_ && now_.leap[edge.later] == leap_ + 1)
        join(edge.earlier, edge.later);
    }
  }
  std::uint32_t first(std::uint32_t partition) const {
    while (joined_[partition] != partition) partition = joined_[partition];
    return partition;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = first(a);
    b = first(b);
    if (a == b) return;
    joined_[std::max(a, b)] = std::min(a, b);
    changed_ = true;
  }

  const CommEvents& all_;
  const Partitioning& now_;
  const std::vector<Follows> follows_;
  const std::uint32_t leap_;
  ScratchVector<std::uint32_t> joined_;
  std::vector<std::vector<std::uint32_t>> processes_;
  std::vector<bool> here_;
  bool changed_ = false;
};

}  // namespace

Partitioning partitions_of(const CommEvents& all) {
  std::uint32_t count = 0;
  auto of = connected(all, count);
  return ordered(all, std::move(of), count);
}

Partitioning rejoined(const CommEvents& all, const Partitioning& before,
                      const ScratchVector<std::uint32_t>& joined) {
  ScratchVector<std::uint32_t> of(before.of.size()), number(before.size(), kNobody);
  std::uint32_t count = 0;  // consecutive
  for (std::size_t event = 0; event < of.size(); ++event) {
    std::uint32_t first = before.of[event];
    while (joined[first] != first) first = joined[first];
    if (number[first] == kNobody) number[first] = count++;
    of[event] = number[first];
  }
  return ordered(all, std::move(of), count);
}

std::vector<Follows> follows_of(const CommEvents& all, const Partitioning& partitioning) {
  std::vector<Follows> edges;
  each_border(all, partitioning.of, [&](std::uint32_t event) {
    const std::uint64_t exit_ns = all.events[event].exit_ns,
                        enter_ns = all.events[event + 1].enter_ns;
    edges.push_back({partitioning.of[event], partitioning.of[event + 1],
                     enter_ns > exit_ns ? enter_ns - exit_ns : exit_ns - enter_ns});
  });
  std::sort(edges.begin(), edges.end(), [](const Follows& a, const Follows& b) {
    return a.earlier != b.earlier ? a.earlier < b.earlier
           : a.later != b.later   ? a.later < b.later
                                  : a.gap_ns < b.gap_ns;
  });
  edges.erase(std::unique(edges.begin(), edges.end(),
                          [](const Follows& a, const Follows& b) {
                            return a.earlier == b.earlier && a.later == b.later;
                          }),
              edges.end());
  return edges;
}

Partitioning with_complete_leaps(const CommEvents& all, Partitioning now, bool force) {
  for (std::uint32_t leap = 0;
       now.size() > 0 && leap <= *std::max_element(now.leap.begin(), now.leap.end());) {
    const Completion completion(all, now, leap, force);
    if (!completion.changed()) {
      ++leap;
      continue;
    }
    now = rejoined(all, now, completion.joined());
    leap = leap > 0 ? leap - 1 : 0;  // partitions moved to the previous leap may complete it, or
                                     // change this one
  }
  return now;
}

}  // namespace fathom::analysis
