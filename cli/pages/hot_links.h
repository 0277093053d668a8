// SPDX-License-Identifier: BSD-3-Clause
// The busiest links of a simulated run, and how load is distributed over links: the report below
// the line of a single run.
//
// Congestion, bytes over capacity, is shown as the time that the link needs for its bytes. It has no
// unit where capacities are relative to each other (has_relative_capacities).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "simulator/flow/link_usage.h"
#include "simulator/network/network.h"
#include "simulator/routing/link_load.h"
#include "simulator/routing/load_spread.h"

namespace fathom::cli {

inline constexpr std::size_t kHotLinks = 8;  // shown on screen

using BytesOfLink = std::function<double(simulator::LinkId)>;

// At most `most`, by bytes over capacity, highest first; those between switches, or all.
std::vector<simulator::LinkId> busiest_links(const simulator::Network& network,
                                             const BytesOfLink& bytes, bool host_links,
                                             std::size_t most);

// "s1.0 → s2.1".
std::string link_name(const simulator::Network& network, simulator::LinkId link);

// "3.36 s"; "0.107" where capacities are relative.
std::string congestion_text(bool relative, double congestion);

// "72 hosts, 36 switches, 324 links of 12.5 GB/s": links of one direction, those of hosts included.
std::string network_text(const simulator::Network& network);

// Names the link of a host that is worse than all links between switches, and by how much; empty if
// there is none.
std::string host_bottleneck(const simulator::Network& network, const simulator::LoadSpread& spread);

// How congestion is spread, the host's link that is worse than what is counted, and the hot links.
// Empty if no traffic crosses a link.
std::string load_report(const simulator::Network& network, const simulator::LinkUse& use,
                        bool host_links);

// The hot links of a run of this many seconds, by utilisation. Links of hosts count: they limit
// flows like all others.
std::string time_report(const simulator::Network& network, const simulator::LinkUsage& usage,
                        double seconds);

}  // namespace fathom::cli
