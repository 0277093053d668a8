// SPDX-License-Identifier: BSD-3-Clause
// What is inside the machines of a cluster, from hwloc: sockets and NUMA domains as a tree of
// hosts.
//
// Each host of the network becomes a machine: the host's name stays with a node that has the
// machine's network links, and the NUMA domains (sockets, where these are fewer; each with the
// cores it has as slots) are the hosts, named MACHINE/numaN, linked to it, over a node for each
// socket where sockets have several domains. So placement and every model see traffic between
// domains as traffic over links, and traffic within a domain as none. hwloc knows no bandwidths:
// all links inside have one capacity and latency. A machine of a single domain stays one host, with
// its cores as slots.
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

// `path` is what `lstopo FILE.xml` writes. The Error names the file.
base::Result<NodeTopology> read_hwloc(const std::string& path);

base::Result<Network> with_nodes(const Network& network, const NodeTopology& node,
                                 double capacity_Bps, double latency_s);

}  // namespace fathom::simulator
