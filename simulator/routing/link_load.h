// SPDX-License-Identifier: BSD-3-Clause
// The link-load model: the load of a placed and routed job on each link, counted as in the
// reference simulator. Traffic is all bytes of the run; congestion is traffic over capacity
// (seconds, if capacities are bytes per second); flows are pairs of processes that communicate over
// the link.
//
// The figures cover links between switches, or all links if `host_links` is set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

struct LoadFigures {
  double max_traffic = 0;
  double max_congestion = 0;
  double max_flows = 0;
  double mean_congestion = 0;
  double congestion_deviation = 0;  // sample deviation, as in the reference; 0 for one link
};

LoadFigures load_figures(const Network& network, const LinkUse& use, bool host_links);

// Routes the demands on top of `background` and returns only the demands' own load on the links.
base::Result<LinkUse> link_load(const Network& network, Router& router,
                                std::span<const Demand> demands, const LinkUse& background);

}  // namespace fathom::simulator
