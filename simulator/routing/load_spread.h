// SPDX-License-Identifier: BSD-3-Clause
// How evenly the links share their load, and which links are the worst.
//
// Congestion is bytes over capacity, as in link_load.h. The spread covers links between switches,
// or all links if `host_links` is set; the worst links are those of the whole network, because the
// bottleneck may be one that the spread leaves out.
#pragma once

#include <cstddef>
#include <span>

#include "simulator/network/network.h"

namespace fathom::simulator {

struct WorstLink {
  LinkId id = kNoId;  // the first of several; kNoId if none carried anything
  double congestion = 0;
};

struct LoadSpread {
  std::size_t links = 0;   // counted
  std::size_t unused = 0;  // of these: carried nothing
  double max_congestion = 0;
  double mean_congestion = 0;
  double p95_congestion = 0;  // 95 % of the links have no more (nearest rank); 0 without links
  double imbalance = 0;       // max over mean: 1 if all links carry the same; 0 without load
  WorstLink between_switches;
  WorstLink of_hosts;  // also those inside machines

  // The spread over the links between switches, or over all.
  const WorstLink& worst(bool host_links) const {
    return host_links && of_hosts.congestion > between_switches.congestion ? of_hosts
                                                                           : between_switches;
  }
};

// `bytes` by link. Cost: linear in the number of links.
LoadSpread load_spread(const Network& network, std::span<const double> bytes, bool host_links);

// Whether capacities are relative to each other instead of bytes/s: some link has less than 1 MB/s.
// GraphML files may say "1" or "10"; congestion then has no unit, otherwise it is in seconds.
bool has_relative_capacities(const Network& network);

}  // namespace fathom::simulator
