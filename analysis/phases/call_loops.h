// SPDX-License-Identifier: BSD-3-Clause
// Finds the loops in the call sequence of one process without any hints: iterations and their
// contents.
//
// Calls arrive one after the other as symbols (function and call site). Whenever the last w items
// equal the w before them, both become one loop of two iterations; when they equal the body of the
// loop just before them, the loop gains an iteration. Loops are items too, so nested loops are
// found. An inner loop may run a different number of times in each iteration: calls that continue
// the last loop of an iteration belong to it. (Region descriptors as in ScalaTrace: M. Noeth et
// al., ScalaTrace: Scalable compression and replay of communication traces for high-performance
// computing, JPDC 69, 2009; used for compression there.)
//
// Invariants: (1) the items, with loops unrolled, are the calls in order; (2) a loop of one item
// has that item's hash, so that one run and many runs compare equal; (3) the result depends on this
// sequence alone. Cost: O(1) per call in loops; kMostCandidates comparisons per call of a sequence
// that never repeats. Memory: the items; for a sequence without loops the last kMostItems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/flat_map.h"

namespace fathom::analysis {

// Lengths of iterations: from first call to first call of the next; the last one ends with its last
// leave.
struct Iterations {
  std::uint64_t count = 0;    // in total, if the loop is entered several times
  std::uint64_t entered = 1;  // number of times entered
  std::uint64_t last = 0;     // in the most recent run
  std::uint64_t fewest = ~std::uint64_t{0}, most = 0;  // in any one run
  std::uint64_t sum_ns = 0, shortest_ns = ~std::uint64_t{0}, longest_ns = 0, longest_at_ns = 0;
  double squares_ns2 = 0;

  void ended(std::uint64_t begin_ns, std::uint64_t end_ns);
  void merge(const Iterations& other);
};

// A call, or a loop.
struct CallItem {
  std::uint64_t hash = 0;                  // equal for equal items
  std::uint64_t begin_ns = 0, end_ns = 0;  // of the whole item: entered, left
  std::uint64_t calls = 1;                 // in it, over all iterations
  std::uint32_t function = 0;              // of a call
  std::vector<CallItem> body;              // loop: one iteration
  Iterations iterations;                   // loop only
  std::uint64_t last_begin_ns = 0;         // loop: of its last iteration
  bool open = false;  // loop: `iterations` lacks the last iteration and the last run
  std::int64_t alike_before = -1, loop_before = -1;  // CallLoops: chains through the items

  bool is_loop() const { return !body.empty(); }
};

class CallLoops {
 public:
  static constexpr std::size_t kMostItems = 1 << 16;
  static constexpr int kMostCandidates = 64;

  // `symbol`: equal for calls that count as the same.
  void call(std::uint64_t symbol, std::uint32_t function, std::uint64_t enter_ns,
            std::uint64_t leave_ns);

  // All items in order. dropped_calls() counts what was dropped to limit memory.
  std::vector<CallItem> finish();
  std::uint64_t dropped_calls() const { return dropped_calls_; }

 private:
  bool fold();
  bool fold_into_loop(std::size_t loop);
  bool fold_pair(std::size_t last);
  bool go_on_inside();
  void push(CallItem item);
  CallItem pop();
  void drop_oldest();

  std::vector<CallItem> items_;
  base::FlatMap<std::uint64_t, std::int64_t> latest_alike_;  // by hash: the last such item
  base::FlatMap<std::uint64_t, std::int64_t>
      latest_loop_;  // by the hash of the last item of its body: the last such loop
  std::uint64_t dropped_calls_ = 0;
};

}  // namespace fathom::analysis
