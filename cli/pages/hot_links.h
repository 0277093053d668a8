// SPDX-License-Identifier: BSD-3-Clause
// The busiest links of a simulated run, and how load is distributed over links: the report below
// the line of a single run.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "simulator/flow/link_usage.h"
#include "simulator/network/network.h"
#include "simulator/routing/link_load.h"

namespace fathom::cli {

inline constexpr std::size_t kHotLinks = 8;  // shown on screen

using BytesOfLink = std::function<double(simulator::LinkId)>;

// At most `most`, by bytes over capacity, highest first; those between switches, or all.
std::vector<simulator::LinkId> busiest_links(const simulator::Network& network,
                                             const BytesOfLink& bytes, bool host_links,
                                             std::size_t most);

// "s1.0 → s2.1", of fixed width.
std::string link_column(const simulator::Network& network, simulator::LinkId link);

// Congestion (max, mean, σ, and of the bisection) and the hot links. Empty if no traffic crosses a
// link.
std::string load_report(const simulator::Network& network, const simulator::LinkUse& use,
                        bool host_links);

// The hot links of a run of this many seconds, by utilisation. Links of hosts count: they limit
// flows like all others.
std::string time_report(const simulator::Network& network, const simulator::LinkUsage& usage,
                        double seconds);

}  // namespace fathom::cli
