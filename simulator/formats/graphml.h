// SPDX-License-Identifier: BSD-3-Clause
// Clusters as GraphML, as the reference simulator reads and writes them, and snapshots of link
// loads.
//
//   node: typ = "host" or "switch"; hosts: capacity = process slots, mac (optional); switches: dpid
//         (optional)
//   edge: capacity (bytes/s, or relative to each other), latency (s, optional), port (of the source,
//         optional)
//   graph: name (optional); grid = mesh, torus, hyperx or simgrid-torus (optional): switches then have
//         coordinates ("1,0,2"), and stand in their order, the first or the last coordinate fastest
// "type" is taken for typ and "slots" for a host's capacity. Edges of an undirected graph become
// two links. Other data is ignored. A snapshot has traffic (bytes) and flows on each edge as well.
//
// An Error names the file and the line.
#pragma once

#include <string>

#include "base/result.h"
#include "simulator/network/network.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

base::Result<Network> read_graphml(const std::string& path);

// Replaces the file. `use` is written as well if there is one.
base::Status write_graphml(const Network& network, const std::string& path,
                           const LinkUse* use = nullptr);

}  // namespace fathom::simulator
