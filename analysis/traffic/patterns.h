// SPDX-License-Identifier: BSD-3-Clause
// Communication patterns of each class of messages: which shape its traffic has, and how much of
// it.
//
// Each class is searched by itself, by bytes, or by messages where it has no bytes (barriers). The
// pattern that explains most is taken out, and what is left is searched again, so that a mixture
// gives each of its parts. A search looks at the whole traffic and at its heavy part (above the
// widest gaps in weight), and at each connected part of either by itself: the same pattern in
// several parts is one with several groups.
//
// A pattern is claimed if it explains `pattern_share` of the class (0.25), `pattern_present` of its
// pairs talk (0.95), and it stands out: it is 0.8 of what is left, or its pairs carry 8 times what
// the other pairs of the same ranks do on average. strength = share of the class explained × part
// of its pairs present.
//
// A class in which nothing is found is searched by communicator. Traffic of the library's own
// ("library", "io") and messages to oneself are left out.
//
// Counts cannot tell a 2 × 2 × 2 grid from a butterfly of 8: such a shape is a halo if the program
// made a Cartesian communicator and the messages are its own (or of a neighbourhood collective),
// else a butterfly; `alternative` names the other.
//
// Cost: some 50 passes over the pairs that talked (bench/profile_analyses.py).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/results/analysis.h"
#include "profile/profile.h"

namespace fathom::analysis {

struct Pattern {
  std::string
      kind;  // all-to-all, halo, nearest-neighbour, ring, pipeline, butterfly, dissemination,
             // master-worker, star, tree, ping-pong; rooted-concentration, dense, sparse,
             // small-message-dominated
  std::string class_name;  // empty: of all classes
  bool hidden = false;
  std::int64_t communicator = profile::kNone;  // set where it holds for one only
  std::vector<std::int64_t> extents;           // of a grid, slowest dimension first
  std::vector<bool> periodic;
  bool corners = false;
  bool rank_order = true;
  std::string alternative;
  std::uint64_t groups = 1;
  std::int64_t hub = profile::kNone;  // world rank, of one group
  std::vector<std::int64_t> ranks;    // ascending
  std::vector<RankPair> pairs;        // the heaviest, kMostListed at most
  std::uint64_t pair_count = 0;
  double share = 0;     // of the class's traffic explained, 0 to 1
  double of_all = 0;    // the same of the whole profile's bytes (messages where there are none)
  double strength = 0;  // 0 to 1
  std::string description;
};

// Those that explain most of the whole traffic first; those of all classes together last.
std::vector<Pattern> find_patterns(const profile::Profile& profile, const Thresholds& thresholds);

base::Result<Outcome> patterns(const Input& input);

}  // namespace fathom::analysis
