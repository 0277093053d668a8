// SPDX-License-Identifier: BSD-3-Clause
// Clusters as GraphML, as the reference simulator reads and writes them, and snapshots of link
// loads.
//
//   node:  typ        "host" or "switch"
//          capacity   hosts: process slots ("slots" is also accepted)
//          mac        hosts, optional
//          dpid       switches, optional
//   edge:  capacity   bytes/s, or relative to each other
//          latency    s, optional
//          port       of the source, optional
//   graph: name       optional
//          grid       optional: mesh, torus, hyperx or simgrid-torus. The switches then have
//                     coordinates ("1,0,2") and are listed in their order, the first or the last
//                     coordinate running fastest.
//
// "type" is accepted for typ. Each edge of an undirected graph becomes two links. Other data is
// ignored. A snapshot also has traffic (bytes) and flows on each edge.
//
// An Error names the file and the line.
#pragma once

#include <string>

#include "base/result.h"
#include "simulator/network/network.h"
#include "simulator/routing/routing.h"

namespace fathom::simulator {

base::Result<Network> read_graphml(const std::string& path);

// Replaces the file. Also writes `use` if given.
base::Status write_graphml(const Network& network, const std::string& path,
                           const LinkUse* use = nullptr);

}  // namespace fathom::simulator
