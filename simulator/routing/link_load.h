// SPDX-License-Identifier: BSD-3-Clause
// The link-load model: what a placed and routed job puts on each link, as the reference simulator
// counts it. Traffic is all bytes of the run; congestion is traffic over capacity (seconds, where
// capacities are bytes per second); flows are pairs of processes that talk over the link.
//
// The figures are taken over links between switches, or over all links if `host_links` is set.
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
  double congestion_deviation = 0;  // of a sample, as the reference computes it; 0 for one link
};

LoadFigures load_figures(const Network& network, const LinkUse& use, bool host_links);

// Routes the demands on top of `background` and adds up what they alone put on the links.
base::Result<LinkUse> link_load(const Network& network, Router& router,
                                std::span<const Demand> demands, const LinkUse& background);

}  // namespace fathom::simulator
