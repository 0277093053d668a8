// SPDX-License-Identifier: BSD-3-Clause
// Events ordered by time, and by insertion where times are equal, so that simulations are
// repeatable.
//
// A heap with four children per node: half as deep as a binary heap, and the children share a cache
// line. Cost: O(log events). Threading: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::simulator {

template <typename Payload>
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  double next_time() const { return heap_.front().time; }

  void push(double time, Payload payload) {
    const Event event{time, arrived_++, payload};
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kChildren;
      if (!event.before(heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
  }

  // Only if not empty().
  Payload pop() {
    const Payload first = heap_.front().payload;
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return first;
  }

 private:
  static constexpr std::size_t kChildren = 4;

  struct Event {
    double time;
    std::uint64_t arrival;
    Payload payload;
    bool before(const Event& other) const {
      return time != other.time ? time < other.time : arrival < other.arrival;
    }
  };

  void sink(const Event& event) {
    std::size_t hole = 0;
    for (;;) {
      const std::size_t first = hole * kChildren + 1;
      if (first >= heap_.size()) break;
      const std::size_t end = first + kChildren < heap_.size() ? first + kChildren : heap_.size();
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (heap_[child].before(heap_[least])) least = child;
      }
      if (!heap_[least].before(event)) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = event;
  }

  std::vector<Event> heap_;
  std::uint64_t arrived_ = 0;
};

}  // namespace fathom::simulator
