// SPDX-License-Identifier: BSD-3-Clause
// Reads the output of ibnetdiscover (infiniband-diags), which administrators keep:
//
//   Switch  36 "S-0002c90300a1b2c0"   # "MF0;leaf1:SX6036/U1" enhanced port 0 lid 3 lmc 0
//   [1]     "H-0002c90300d4e5f0"[1](2c90300d4e5f1)   # "node01 HCA-1" lid 7 4xFDR
//   Ca      1 "H-0002c90300d4e5f0"    # "node01 HCA-1"
//   [1](2c90300d4e5f1)  "S-0002c90300a1b2c0"[1]   # lid 7 lmc 0 "MF0;leaf1:SX6036/U1" lid 3 4xFDR
//
// Each line in brackets is one link from the node above it; the number is its port. The capacity of
// a link follows from its width and speed after encoding (4xFDR: 6.82 GB/s). A channel adapter is a
// host named by the first word of its description; adapters with the same first word are rails of
// one host. Switches keep their GUID names, which are unique. Adapters inside switches
// ("Aggregation Node") and routers are left out.
#pragma once

#include <string>

#include "base/result.h"
#include "simulator/network/cluster_defaults.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

// An Error names the file and the line. Slots and latency come from `defaults`, as does the
// capacity of a line that gives no speed.
base::Result<Network> read_ibnetdiscover(const std::string& path, const ClusterDefaults& defaults);

}  // namespace fathom::simulator
