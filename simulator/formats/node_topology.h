// SPDX-License-Identifier: BSD-3-Clause
// The inside of a cluster's machines, from hwloc: sockets and NUMA domains as a tree of hosts.
//
// Each host of the network becomes a machine. The host's name stays with a node that has the
// machine's network links. The hosts are then the NUMA domains (or sockets, if there are fewer of
// these), named MACHINE/numaN, each with as many slots as cores. They are linked to the machine's
// node, through one more node per socket if sockets have several domains. Placement and every model
// therefore see traffic between domains as traffic over links, and traffic within a domain as none.
// hwloc does not know bandwidths, so all inner links have one capacity and latency. A machine with
// a single domain stays one host, with its cores as slots.
//
// hwloc stays inside node_topology.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

struct NumaDomain {
  std::uint32_t socket = 0;
  std::uint32_t first_core = 0, cores = 0;  // hwloc's logical numbers
};

struct NodeTopology {
  std::uint32_t sockets = 0;
  std::vector<NumaDomain> domains;  // ascending by first core; at least one
};

// `path` is the output of `lstopo FILE.xml`. The Error names the file.
base::Result<NodeTopology> read_hwloc(const std::string& path);

base::Result<Network> with_nodes(const Network& network, const NodeTopology& node,
                                 double capacity_Bps, double latency_s);

}  // namespace fathom::simulator
