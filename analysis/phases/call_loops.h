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
// ends with the loop's last call or begins with its first, and makes at most KnownLoops::kLongestBranch
// times as many calls as the others. A time step that rebuilds its neighbour lists now and then is such a
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

#include "analysis/phases/call_items.h"
#include "analysis/phases/known_loops.h"
#include "base/flat_map.h"

namespace fathom::analysis {

class CallLoops {
 public:
  static constexpr std::size_t kMostItems = 1 << 16;
  static constexpr int kMostCandidates = 64;

  // `symbol`: equal for calls that count as the same. `site` is kept for the caller.
  void call(std::uint64_t symbol, std::uint32_t function, std::uint32_t site,
            std::uint64_t enter_ns, std::uint64_t leave_ns);

  // All items in order. dropped_calls() counts what was dropped to limit memory.
  std::vector<CallItem> finish();
  std::uint64_t dropped_calls() const { return dropped_calls_; }

  // Branches become known on the way. Where there are any, the same calls should be given once more
  // to what again() returns, which knows them from the start.
  bool has_branches() const { return known_.has_branches(); }
  CallLoops again() const;

 private:
  void add(CallItem item);
  bool fold();
  bool fold_into_loop(std::size_t at);
  bool fold_pair(std::size_t last);
  bool go_on_inside();
  bool join_loops();
  bool take_branch_after();
  bool take_branch_before();
  bool begin_with_branch();
  std::vector<CallItem> pop(std::size_t count);
  void push(CallItem item);
  void unchain(const CallItem& item);
  CallItem pop();
  void drop_oldest();

  std::vector<CallItem> items_;
  base::FlatMap<std::uint64_t, std::int64_t> latest_alike_;  // by hash: the last such item
  base::FlatMap<std::uint64_t, std::int64_t>
      latest_loop_;  // by the hash of the last item of its body: the last such loop
  KnownLoops known_;
  std::uint64_t dropped_calls_ = 0;
};

}  // namespace fathom::analysis
