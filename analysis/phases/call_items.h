// SPDX-License-Identifier: BSD-3-Clause
// A call of one process, or a loop of calls, and what can be done with one: count an iteration, merge the
// loops of two iterations, take it apart. Which calls are an iteration, call_loops.h decides.
//
// Invariants: (1) merging needs items of equal hashes, and keeps them; (2) all loops inside a closed loop
// are closed. Cost: O(items of an iteration), and their contents where both have some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fathom::analysis {

// Lengths of iterations: from first call to first call of the next; the last one ends with its last
// leave.
struct Iterations {
  std::uint64_t count = 0;    // in total, if the loop is entered several times
  std::uint64_t entered = 1;  // number of times entered
  std::uint64_t last = 0;     // in the most recent run
  std::uint64_t fewest = ~std::uint64_t{0}, most = 0;  // in any one run
  std::uint64_t sum_ns = 0, shortest_ns = ~std::uint64_t{0}, longest_ns = 0, longest_at_ns = 0;
  // Number and mean of the iterations that ended, and the sum of squared distances from the mean
  // (B. P. Welford, Technometrics 4(3), 1962). Squares of the times themselves would cancel.
  std::uint64_t timed = 0;
  double mean_ns = 0, squares_ns2 = 0;

  double deviation_ns() const;  // standard deviation; 0 if no iteration ended
  void ended(std::uint64_t begin_ns, std::uint64_t end_ns);
  void merge(const Iterations& other);
};

struct CallBranch;

// A call, or a loop.
struct CallItem {
  std::uint64_t hash = 0;                  // equal for equal items
  std::uint64_t begin_ns = 0, end_ns = 0;  // of the whole item: entered, left
  std::uint64_t calls = 1;                 // in it, over all iterations
  std::uint32_t function = 0;              // of a call
  std::uint32_t site = 0;                  // of a call, as given to CallLoops
  std::vector<CallItem> body;              // loop: one iteration
  std::vector<CallItem> second;            // loop of two: the second iteration, until it is merged
  std::vector<CallBranch> branches;        // loop: iterations with other calls
  std::int32_t branch = -1;                // loop: that of its last iteration; -1: the body
  Iterations iterations;                   // loop only; those of branches count too
  std::uint64_t last_begin_ns = 0;         // loop: of its last iteration
  bool open = false;  // loop: `iterations` lacks the last iteration and the last run
  std::int64_t alike_before = -1, loop_before = -1;  // CallLoops: chains through the items

  bool is_loop() const { return !body.empty(); }
};

// What some iterations of a loop consist of instead of its body.
struct CallBranch {
  std::uint64_t iterations = 0;
  std::vector<CallItem> items;
};

using Hashes = std::vector<std::uint64_t>;

Hashes hashes_of(const std::vector<CallItem>& items);
// The hash of a loop with this body: that of the item, if there is only one.
std::uint64_t hash_of_body(const Hashes& hashes);

bool same_hashes(std::span<const CallItem> items, std::span<const CallItem> others);
bool has_hashes(std::span<const CallItem> items, std::span<const std::uint64_t> hashes);

// The items of the loop's last iteration.
const std::vector<CallItem>& latest_of(const CallItem& loop);

// A loop that has one iteration so far.
CallItem once_through(std::vector<CallItem> body);

// Counts one more iteration, with these items, of an open loop.
void count_iteration(CallItem& loop, std::span<const CallItem> items);

// Extends an open loop by one iteration with these items, which are those of its body.
void extend(CallItem& loop, std::span<CallItem> items);

// Merges the second of two iterations that was kept apart.
void settle(CallItem& loop);

// Adds iterations to the branch of these items, or the branch. Its place among the branches.
std::int32_t add_branch(std::vector<CallBranch>& branches, CallBranch&& other);

// Merges the bodies and branches of a later run of the same loop.
void merge_contents(CallItem& into, CallItem&& later);

// Whether these items, which make `calls` calls, continue the loop at the end of `loop`'s last iteration,
// or a loop at the end of that one. They are then part of it.
bool go_on_in(CallItem& loop, std::span<CallItem> items, std::uint64_t calls, std::uint64_t end_ns);

// Appends the items, closed, with those of outermost pairs in place of the pair.
void take_apart(std::vector<CallItem>& items, std::vector<CallItem>& all);

}  // namespace fathom::analysis
