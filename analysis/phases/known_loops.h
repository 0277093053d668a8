// SPDX-License-Identifier: BSD-3-Clause
// What has been learnt of one process's loops on the way: with which call each begins, and which branches
// its iterations may take (call_loops.h).
//
// Memory: kMostBranches branches for each loop, and one body for each. Cost: hash look-ups, and of
// learn_branches() O(items of the body) for each loop in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/phases/call_items.h"
#include "base/flat_map.h"

namespace fathom::analysis {

class KnownLoops {
 public:
  static constexpr std::size_t kMostBranches = 16;  // of one loop
  static constexpr std::uint64_t kLongestBranch = 2;
  static constexpr std::uint64_t kFewest = 3;  // iterations that show a loop, and where it begins

  struct KnownBranch {
    Hashes body, branch;
  };

  // Where a loop with this body begins.
  void remember(const std::vector<CallItem>& body);
  // Whether a loop with this body is known to begin with another of its items.
  bool begins_elsewhere(std::span<const CallItem> body) const;

  bool has_branches() const { return branches_.size() > 0; }
  // The branches of the loop with this hash; null if there are none.
  const std::vector<Hashes>* branches_of(std::uint64_t loop) const { return branches_.find(loop); }
  // The loops whose body or a branch ends with this item; null if there are none.
  const std::vector<KnownBranch>* ending_with(std::uint64_t item) const {
    return branches_by_end_.find(item);
  }
  bool is_branch(const CallItem& loop, std::span<const CallItem> items) const;

  // Looks for branches of the loops in one iteration of what seems to be a loop around them; `before` is
  // what came before it. True if one is new: the items then have to be folded again.
  bool learn_branches(const std::vector<CallItem>& body, std::span<const CallItem> before);

 private:
  bool learn_branch(const CallItem& loop, const std::vector<CallItem>& body, std::size_t at,
                    std::span<const CallItem> before);
  void begin_earlier(const std::vector<CallItem>& body, std::size_t at,
                     std::span<const CallItem> before, Hashes& own, Hashes& branch);

  base::FlatMap<std::uint64_t, std::vector<Hashes>> branches_;              // by the loop's hash
  base::FlatMap<std::uint64_t, std::vector<KnownBranch>> branches_by_end_;  // by last items
  base::FlatMap<std::uint64_t, Hashes> bodies_;  // of loops found, by hash_of_circle()
};

}  // namespace fathom::analysis
