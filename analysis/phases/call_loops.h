// SPDX-License-Identifier: BSD-3-Clause
// Finds the loops of one process in its sequence of calls, without being told: iterations, and what
// is in them.
//
// Calls come one after the other as symbols (what is called, and from where). Whenever the last w
// items equal the w before them, both become one loop of two iterations; when they equal the body
// of the loop just before them, it has one more. Loops are items too, so loops in loops are found,
// and a loop inside may run a different number of times in each iteration: what goes on with the
// last loop of an iteration belongs to that. (Region descriptors as in ScalaTrace: M. Noeth et al.,
// ScalaTrace: Scalable compression and replay of communication traces for high-performance
// computing, JPDC 69, 2009; there for compression.)
//
// Invariants: (1) the items, loops unrolled, are the calls in their order; (2) a loop of one item
// has that item's hash, so that running once and running often are alike; (3) the result follows
// from this sequence alone. Cost: O(1) a call in loops; of a sequence that never repeats
// kMostCandidates comparisons. Memory: the items; of a sequence without loops the last kMostItems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/flat_map.h"

namespace fathom::analysis {

// Lengths of iterations: from one's first call to the next one's; of the last to its last leave.
struct Iterations {
  std::uint64_t count = 0;    // in all, where the loop is entered several times
  std::uint64_t entered = 1;  // how many times
  std::uint64_t last = 0;     // of the last time
  std::uint64_t fewest = ~std::uint64_t{0}, most = 0;  // of one time
  std::uint64_t sum_ns = 0, shortest_ns = ~std::uint64_t{0}, longest_ns = 0, longest_at_ns = 0;
  double squares_ns2 = 0;

  void ended(std::uint64_t begin_ns, std::uint64_t end_ns);
  void merge(const Iterations& other);
};

// A call, or a loop.
struct CallItem {
  std::uint64_t hash = 0;                  // equal for items that are alike
  std::uint64_t begin_ns = 0, end_ns = 0;  // of all of it: entered, left
  std::uint64_t calls = 1;                 // in it, iterations and all
  std::uint32_t function = 0;              // of a call
  std::vector<CallItem> body;              // of a loop: one iteration
  Iterations iterations;                   // of a loop
  std::uint64_t last_begin_ns = 0;         // of a loop: of its last iteration
  bool open = false;  // a loop whose last iteration, and last time, are not in `iterations` yet
  std::int64_t alike_before = -1, loop_before = -1;  // CallLoops: chains through the items

  bool is_loop() const { return !body.empty(); }
};

class CallLoops {
 public:
  static constexpr std::size_t kMostItems = 1 << 16;
  static constexpr int kMostCandidates = 64;

  // `symbol`: equal for calls that are alike.
  void call(std::uint64_t symbol, std::uint32_t function, std::uint64_t enter_ns,
            std::uint64_t leave_ns);

  // All items in order; what had to be dropped to bound memory is counted.
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
      latest_loop_;  // by the hash of the end of its body: the last such loop
  std::uint64_t dropped_calls_ = 0;
};

}  // namespace fathom::analysis
