// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/lateness/logical_structure.h"

#include <algorithm>
#include <numeric>

#include "analysis/lateness/partitions.h"

namespace fathom::analysis {
namespace {

// Strides: longest chains over the events that send. A blocking collective is one node, its first
// member. A non-blocking one has its own node after all events, which adds nothing to the length.
class Strides {
 public:
  Strides(const CommEvents& all, const ScratchVector<std::uint32_t>& partition)
      : all_(all),
        events_(static_cast<std::uint32_t>(all.events.size())),
        next_(events_, kNobody),
        stride_(events_ + all.groups()),
        open_(events_ + all.groups()) {
    find_next(partition);
    each_edge([&](std::uint32_t, std::uint32_t to) { ++open_[to]; });
    for (std::uint32_t node = 0; node < open_.size(); ++node) {
      CommEvents::touched(node);
      if (is_node(node) && open_[node] == 0) ready_.push_back(node);
    }
    go();
    break_cycles();
  }

  // By event; kNobody for receives.
  ScratchVector<std::uint32_t> by_event() {
    ScratchVector<std::uint32_t> strides(events_, kNobody);
    all_.each([&](std::uint32_t event) {
      if (all_.events[event].kind != CommKind::kReceive) strides[event] = stride_[node(event)];
    });
    return strides;
  }

 private:
  bool sends(std::uint32_t event) const { return all_.events[event].kind != CommKind::kReceive; }
  std::uint32_t node(std::uint32_t event) const {
    const CommEvent& one = all_.events[event];
    return one.kind == CommKind::kCollective ? all_.members.of(one.group).front() : event;
  }
  bool is_node(std::uint32_t node_number) const {
    if (node_number >= events_) return !all_.completions.of(node_number - events_).empty();
    return sends(node_number) && node(node_number) == node_number;
  }

  // The next event that sends, on the same process and in the same partition.
  void find_next(const ScratchVector<std::uint32_t>& partition) {
    for (std::uint32_t event = events_; event-- > 1;) {
      CommEvents::touched(event);
      const std::uint32_t before = event - 1;
      const bool together = all_.events[before].process == all_.events[event].process &&
                            partition[before] == partition[event];
      if (together) next_[before] = sends(event) ? event : next_[event];
    }
  }

  template <typename Take>
  void each_edge_of_event(std::uint32_t event, Take take) const {
    const auto edge = [&](std::uint32_t to) {
      if (to != kNobody && node(to) != node(event)) take(node(to));
    };
    edge(next_[event]);
    for (const std::uint32_t receiver : all_.receivers.of(event)) edge(next_[receiver]);
    const CommEvent& one = all_.events[event];
    if (one.kind == CommKind::kPost && is_node(events_ + one.group)) take(events_ + one.group);
  }
  template <typename Take>
  void each_edge_of(std::uint32_t node_number, Take take) const {
    if (node_number >= events_) {
      for (const std::uint32_t completion : all_.completions.of(node_number - events_)) {
        if (next_[completion] != kNobody) take(node(next_[completion]));
      }
    } else if (all_.events[node_number].kind == CommKind::kCollective) {
      for (const std::uint32_t member : all_.members.of(all_.events[node_number].group))
        each_edge_of_event(member, take);
    } else {
      each_edge_of_event(node_number, take);
    }
  }
  template <typename Take>
  void each_edge(Take take) const {
    for (std::uint32_t from = 0; from < open_.size(); ++from) {
      CommEvents::touched(from);
      if (is_node(from)) each_edge_of(from, [&](std::uint32_t to) { take(from, to); });
    }
  }

  void go() {
    while (!ready_.empty()) {
      CommEvents::touched(gone_++);
      const std::uint32_t from = ready_.back();
      ready_.pop_back();
      open_[from] = kNobody;
      const std::uint32_t stride = stride_[from] + 1;
      each_edge_of(from, [&](std::uint32_t to) {
        if (open_[to] == kNobody) return;  // part of a broken cycle
        stride_[to] = std::max(stride_[to], to < events_ ? stride : stride - 1);
        if (--open_[to] == 0) ready_.push_back(to);
      });
    }
  }

  // Programs can have cycles: the root of a broadcast need not wait for processes that it sends to
  // next. The earliest node goes first.
  void break_cycles() {
    ScratchVector<std::uint32_t> left;
    for (std::uint32_t one = 0; one < open_.size(); ++one) {
      CommEvents::touched(one);
      if (is_node(one) && open_[one] != kNobody) left.push_back(one);
    }
    const auto time_ns = [&](std::uint32_t one) {
      return one < events_ ? all_.events[one].enter_ns : ~std::uint64_t{0};
    };
    std::stable_sort(left.begin(), left.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return time_ns(a) < time_ns(b); });
    for (const std::uint32_t one : left) {
      if (open_[one] == kNobody) continue;
      ready_.push_back(one);
      go();
    }
  }

  const CommEvents& all_;
  const std::uint32_t events_;
  ScratchVector<std::uint32_t> next_, stride_, open_, ready_;
  std::uint32_t gone_ = 0;
};

class Steps {
 public:
  Steps(const CommEvents& all, LogicalStructure& structure)
      : all_(all), made_(structure), posted_(all.groups()) {}

  void find() {
    made_.step.assign(all_.events.size(), kNobody);
    sort_by_stride();
    for (std::size_t i = 0; i < order_.size();) {
      const std::uint32_t partition = made_.partition[order_[i]];
      std::uint32_t& last = made_.partitions[partition].steps;  // the number of steps so far
      std::size_t end = i;
      for (; end < order_.size() && same_stride(order_[i], order_[end]); ++end)
        place_receives_before(order_[end], last);
      for (; i < end; ++i) {
        CommEvents::touched(static_cast<std::uint32_t>(i));
        place(order_[i], last);
      }
      ++last;
    }
    all_.each([&](std::uint32_t event) {
      if (made_.step[event] == kNobody)
        place_receive(event, made_.partitions[made_.partition[event]].steps);
    });
  }

 private:
  bool same_stride(std::uint32_t a, std::uint32_t b) const {
    return made_.partition[a] == made_.partition[b] && made_.stride[a] == made_.stride[b];
  }

  // The events that send, by partition, then by stride: two counting sorts.
  void sort_by_stride() {
    ScratchVector<std::uint32_t> senders;
    std::uint32_t strides = 0;
    all_.each([&](std::uint32_t event) {
      if (made_.stride[event] == kNobody) return;
      append(senders, event);
      strides = std::max(strides, made_.stride[event] + 1);
    });
    const auto sorted = [](const ScratchVector<std::uint32_t>& from, std::size_t keys, auto key) {
      ScratchVector<std::uint32_t> at(keys + 1), to(from.size());
      for (const std::uint32_t event : from) ++at[key(event) + 1];
      std::partial_sum(at.begin(), at.end(), at.begin());
      for (const std::uint32_t event : from) to[at[key(event)]++] = event;
      return to;
    };
    order_ = sorted(
        sorted(senders, strides, [&](std::uint32_t event) { return made_.stride[event]; }),
        made_.partitions.size(), [&](std::uint32_t event) { return made_.partition[event]; });
  }

  bool is_behind(std::uint32_t before, std::uint32_t event) const {
    return all_.events[before].process == all_.events[event].process &&
           made_.partition[before] == made_.partition[event];
  }

  // The receives between this event and the previous one that sends on its process.
  void place_receives_before(std::uint32_t event, std::uint32_t& steps) {
    std::uint32_t first = event;
    while (first > 0 && is_behind(first - 1, event) && made_.stride[first - 1] == kNobody) --first;
    for (; first < event; ++first) place_receive(first, steps);
  }

  void place_receive(std::uint32_t event, std::uint32_t& steps) {
    std::uint32_t step = 0;
    const auto behind = [&](std::uint32_t other) { step = std::max(step, other + 1); };
    if (event > 0 && is_behind(event - 1, event)) behind(made_.step[event - 1]);
    for (const std::uint32_t sender : all_.senders.of(event)) {
      if (made_.step[sender] != kNobody) behind(made_.step[sender]);
    }
    for (const std::uint32_t group : all_.completed.of(event)) behind(posted_[group]);
    made_.step[event] = step;
    steps = std::max(steps, step + 1);
  }

  void place(std::uint32_t event, std::uint32_t step) {
    made_.step[event] = step;
    const CommEvent& one = all_.events[event];
    if (one.kind == CommKind::kPost) posted_[one.group] = std::max(posted_[one.group], step);
  }

  const CommEvents& all_;
  LogicalStructure& made_;
  ScratchVector<std::uint32_t> order_;
  ScratchVector<std::uint32_t> posted_;  // by group: the last step of its kPost
};

// Puts each partition after all partitions it depends on.
void put_behind_one_another(const CommEvents& all, LogicalStructure& made) {
  std::uint32_t bucket = 0;
  for (Partition& partition : made.partitions) {
    partition.first_bucket = bucket;
    bucket += partition.steps;
    made.leaps = std::max(made.leaps, partition.leap + 1);
  }
  made.buckets = bucket;
  ScratchVector<std::uint32_t>
      borders;  // events whose next event is in another partition, by partition
  all.each([&](std::uint32_t event) {
    const bool followed =
        event + 1 < all.events.size() && all.events[event].process == all.events[event + 1].process;
    if (followed && made.partition[event] != made.partition[event + 1]) append(borders, event);
  });
  std::sort(borders.begin(), borders.end(), [&](std::uint32_t a, std::uint32_t b) {
    return made.partition[a] < made.partition[b];
  });
  for (const std::uint32_t event : borders) {
    const Partition& earlier = made.partitions[made.partition[event]];
    std::uint32_t& first = made.partitions[made.partition[event + 1]].first_step;
    first = std::max(first, earlier.first_step + 2 * earlier.steps);
  }
}

}  // namespace

LogicalStructure logical_structure(const CommEvents& all, const StructureOptions& options) {
  LogicalStructure made;
  {
    Partitioning partitioning = partitions_of(all);
    if (options.complete_leaps)
      partitioning = with_complete_leaps(all, std::move(partitioning), options.force);
    made.partitions.resize(partitioning.size());
    for (std::size_t i = 0; i < partitioning.size(); ++i)
      made.partitions[i].leap = partitioning.leap[i];
    made.partition = std::move(partitioning.of);
  }
  made.stride = Strides(all, made.partition).by_event();
  Steps(all, made).find();
  put_behind_one_another(all, made);
  return made;
}

}  // namespace fathom::analysis
