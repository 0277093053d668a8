// SPDX-License-Identifier: BSD-3-Clause
// Communication patterns of each class of messages: the shape of its traffic, and how much that
// explains.
//
// Each class is searched separately, by bytes, or by messages if it has no bytes (barriers). The
// pattern that explains most is removed and the rest is searched again, so a mixture yields each of
// its parts. A search considers the whole traffic and its heavy part (above the widest gaps in
// weight), and each connected part of either. The same pattern in several parts is one pattern with
// several groups.
//
// A pattern is claimed if it explains `pattern_share` of the class (0.25), `pattern_present` of its
// pairs have traffic (0.95), and it stands out: it is 0.8 of the remaining traffic, or its pairs
// carry on average 8 times as much as the other pairs of the same ranks. strength = share of the
// class explained × fraction of its pairs present.
//
// Each communicator is searched first. Communicators that are the rows or the columns of a grid are
// searched together for what programs do with them (grid_patterns.h), and the same pattern on
// several communicators is one pattern. What is on communicators without a pattern of their own is
// searched once more together. The library's own traffic ("library", "io") and messages to oneself
// are left out.
//
// Counts cannot distinguish a 2 × 2 × 2 grid from a butterfly of 8. Such a shape is a halo if the
// program made a Cartesian communicator and the messages are its own (or a neighbourhood
// collective's), else a butterfly; `alternative` names the other.
//
// Cost: about 50 passes over the communicating pairs (bench/profile_analyses.py).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/results/analysis.h"
#include "profile/profile.h"

namespace fathom::analysis {

struct Pattern {
  std::string
      kind;  // all-to-all, pencil-transpose, summa, halo, nearest-neighbour, ring, pipeline,
             // butterfly, dissemination, master-worker, star, tree, ping-pong;
             // rooted-concentration, dense, sparse, small-message-dominated
  std::string class_name;  // empty: all classes together
  bool hidden = false;
  std::vector<std::int64_t> communicators;  // on which it was found, ascending
  std::string along;                        // of a grid: "rows", "columns", "rows and columns"
  std::vector<std::int64_t> extents;        // of a grid, slowest dimension first
  std::vector<bool> periodic;
  bool corners = false;
  bool rank_order = true;
  std::string alternative;
  std::uint64_t groups = 1;
  std::int64_t hub = profile::kNone;  // world rank, of one group
  std::vector<std::int64_t> ranks;    // ascending
  std::vector<RankPair> pairs;        // the heaviest, at most kMostListed
  std::uint64_t pair_count = 0;
  double share = 0;     // of the class's traffic explained, 0 to 1
  double of_all = 0;    // the same of the profile's bytes (messages if it has none)
  double strength = 0;  // 0 to 1
  std::string description;
};

// Those that explain most of the whole traffic first; those of all classes together last.
std::vector<Pattern> find_patterns(const profile::Profile& profile, const Thresholds& thresholds);

base::Result<Outcome> patterns(const Input& input);

}  // namespace fathom::analysis
