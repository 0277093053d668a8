// SPDX-License-Identifier: BSD-3-Clause
// SimGrid's platform files (XML, versions 3 to 4.1 of the format) as networks.
//
// Reads nested zones (AS) with routing Full, Floyd, Dijkstra, DijkstraCache, Cluster or None; hosts
// (core = slots), routers, links of the three sharing policies, routes, zone routes over gateways
// and bypasses; clusters with and without backbone, limiter and topology (simgrid_cluster.h);
// cabinets with host_link and backbone. media_graph.h says how they become links of the network. A
// SHARED link carries both directions together, as in SimGrid. The network's given routes are
// SimGrid's own (simgrid_zones.h). Rejected, with the line: Vivaldi and WiFi zones, peers, and
// included files. Speeds, loopbacks, disks, traces and properties are ignored.
//
// Source: "Platform description reference" of SimGrid 3.32, and what its reader does with examples
// (test/simulator/ compares this reader with SimGrid's own).
#pragma once

#include <string>

#include "base/result.h"
#include "simulator/network/cluster_defaults.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

// Slots come from `defaults` if a host has no `core`. An Error names the file and the line.
base::Result<Network> read_simgrid_platform(const std::string& path,
                                            const ClusterDefaults& defaults);

}  // namespace fathom::simulator
