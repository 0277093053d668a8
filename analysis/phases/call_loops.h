// SPDX-License-Identifier: BSD-3-Clause
// Finds the loops in the call sequence of one process without any hints: iterations and their
// contents.
//
// Calls arrive one after the other as symbols (function and source line). Whenever the last w items
// equal the w before them, both become one loop of two iterations; when they equal the body of the
// loop just before them, the loop gains an iteration. Loops are items too, so nested loops are
// found. An inner loop may run a different number of times in each iteration: calls that continue
// the last loop of an iteration belong to it. (Region descriptors as in ScalaTrace: M. Noeth et
// al., ScalaTrace: Scalable compression and replay of communication traces for high-performance
// computing, JPDC 69, 2009; used for compression there.)
//
// Iterations may take another branch. With x and y in place of a, "ab ab ab xyb ab ab ab xyb" is
// one loop of eight iterations: what comes back between the runs of a loop is an iteration if it
// ends with the loop's last call or begins with its first, and makes at most kLongestBranch times
// as many calls as the others. A time step that rebuilds its neighbour lists now and then is such a
// loop. What is different or longer belongs to an outer loop: "p ab ab ab q p ab ab ab q" has two
// iterations of that. The calls alone do not show whether it is an outer loop that ends with the
// call that ends the inner one, too; such a loop counts as one with branches.
//
// "b ab ab a" may be three runs of ba as well. A loop that has been found before begins with the
// same call as then.
//
// Two iterations are too few to tell a loop from chance. They count inside a loop, and if all their
// calls are different; an outermost pair that contains loops is taken apart again.
//
// Invariants: (1) the items, with loops unrolled, are the calls in order, except that iterations of
// different branches are not kept in order; (2) a loop of one item has that item's hash, so that
// one run and many runs compare equal; branches are not in the hash; (3) the result depends on this
// sequence alone. Cost: O(1) per call in loops; kMostCandidates comparisons per call of a sequence
// that never repeats. Memory: the items; for a sequence without loops the last kMostItems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
  // Of the iterations that ended: their number, mean, and the sum of squared distances from the mean
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

class CallLoops {
 public:
  static constexpr std::size_t kMostItems = 1 << 16;
  static constexpr int kMostCandidates = 64;
  static constexpr std::size_t kMostBranches = 16;  // of one loop
  static constexpr std::uint64_t kLongestBranch = 2;
  static constexpr std::uint64_t kFewest = 3;  // iterations that show a loop, and where it begins

  // `symbol`: equal for calls that count as the same. `site` is kept for the caller.
  void call(std::uint64_t symbol, std::uint32_t function, std::uint32_t site,
            std::uint64_t enter_ns, std::uint64_t leave_ns);

  // All items in order. dropped_calls() counts what was dropped to limit memory.
  std::vector<CallItem> finish();
  std::uint64_t dropped_calls() const { return dropped_calls_; }

  // Branches become known on the way. Where there are any, the same calls should be given once more
  // to what again() returns, which knows them from the start.
  bool has_branches() const { return branches_.size() > 0; }
  CallLoops again() const;

 private:
  using Hashes = std::vector<std::uint64_t>;
  struct KnownBranch {
    Hashes body, branch;
  };

  void add(CallItem item);
  bool fold();
  bool fold_into_loop(std::size_t at);
  bool fold_pair(std::size_t last);
  bool go_on_inside();
  bool join_loops();
  bool take_branch_after();
  bool take_branch_before();
  bool begin_with_branch();
  bool is_branch(const CallItem& loop, std::span<const CallItem> items) const;
  bool learn_branches(const std::vector<CallItem>& body);
  bool learn_branch(const CallItem& loop, const std::vector<CallItem>& body, std::size_t at);
  void begin_earlier(const std::vector<CallItem>& body, std::size_t at, Hashes& own,
                     Hashes& branch);
  void remember(const std::vector<CallItem>& body);
  bool begins_elsewhere(std::span<const CallItem> body) const;
  std::vector<CallItem> pop(std::size_t count);
  void push(CallItem item);
  void unchain(const CallItem& item);
  CallItem pop();
  void drop_oldest();

  std::vector<CallItem> items_;
  base::FlatMap<std::uint64_t, std::int64_t> latest_alike_;  // by hash: the last such item
  base::FlatMap<std::uint64_t, std::int64_t>
      latest_loop_;  // by the hash of the last item of its body: the last such loop
  base::FlatMap<std::uint64_t, std::vector<Hashes>> branches_;  // known ones, by the loop's hash
  base::FlatMap<std::uint64_t, std::vector<KnownBranch>> branches_by_end_;  // by last items
  base::FlatMap<std::uint64_t, Hashes> bodies_;  // of loops found, by hash_of_circle()
  std::uint64_t dropped_calls_ = 0;
};

}  // namespace fathom::analysis
