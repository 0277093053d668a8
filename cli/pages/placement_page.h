// SPDX-License-Identifier: BSD-3-Clause
// What `fathom place` shows: the present placement beside the best one that was found, then all
// that were tried. As JSON, schema fathom-placement/1:
//
//   {"schema", "job", "cluster", "ranks", "hosts", "objective",
//    "before", "after": {"placement", "routing", "congestion", "seconds", "hop_bytes",
//                        "host_bytes", "mean_congestion", "p95_congestion", "imbalance",
//                        "worst_link": {"source", "target", "capacity", "traffic"}},
//    "moved_ranks": how many run on another host afterwards,
//    "candidates": [{"placement", "routing", "congestion", "seconds", "hop_bytes", "host_bytes",
//                    "host_of_rank": by rank}], the present one first, then the best,
//    "lower_bound": {"congestion", "seconds", "hop_bytes", "host_bytes"},
//    "links": [{"source", "target", "capacity", "of_host", "before", "after"}] in bytes}
//
// Links of hosts count in all figures. "seconds" is null where time was not computed.
#pragma once

#include <string>

#include "cli/terminal/terminal.h"
#include "simulator/placement/advisor.h"
#include "simulator/routing/routing.h"

namespace fathom::cli {

// What each link carries with the present placement and routing, and with the best.
struct PlacementLoads {
  simulator::LinkUse before, after;
};

std::string placement_page(const simulator::AdviceRequest& request, const simulator::Advice& advice,
                           const PlacementLoads& loads, const Terminal& terminal);
std::string placement_json(const simulator::AdviceRequest& request, const simulator::Advice& advice,
                           const PlacementLoads& loads);

}  // namespace fathom::cli
