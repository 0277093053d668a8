// SPDX-License-Identifier: BSD-3-Clause
// Reads the output of ibnetdiscover (infiniband-diags), which administrators keep:
//
//   sysimgguid=0x2c90300a1b2c0
//   Switch  36 "S-0002c90300a1b2c0"   # "MF0;leaf1:SX6036/U1" enhanced port 0 lid 3 lmc 0
//   [1]     "H-0002c90300d4e5f0"[1](2c90300d4e5f1)   # "node01 HCA-1" lid 7 4xFDR
//   Ca      1 "H-0002c90300d4e5f0"    # "node01 HCA-1"
//   [1](2c90300d4e5f1)  "S-0002c90300a1b2c0"[1]   # lid 7 lmc 0 "MF0;leaf1:SX6036/U1" lid 3 4xFDR
//
// Each line in brackets is one link from the node above it; the number is its port. The capacity of
// a link follows from its width and speed after encoding (4xFDR: 6.82 GB/s).
//
// Which channel adapters (Ca) are one host: those of one card (the same sysimgguid) unless they name
// different hosts, and those whose descriptions name the same host and differ, as rails do ("node01
// mlx5_0", "node01 mlx5_1"). No host has two adapters of the same description, so where cards have
// one in common, the name is shared, and GUIDs alone decide. A host has the name that its
// descriptions begin with. If it shares that with others, or has none (what firmware writes, "MT4123
// ConnectX6 Mellanox Technologies", is a model), it has the GUID name of its first adapter.
//
// A switch is named by its description: the part between "MF0;" and ':' if no other node has it,
// else all of it, else its GUID name. Adapters inside switches are left out (SHARP's "Aggregation
// Node", and whatever has the sysimgguid of a switch), and so are routers.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "simulator/network/cluster_defaults.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

// Whether a file whose first line (not empty, no comment) is this can be ibnetdiscover's.
bool is_ibnetdiscover_line(std::string_view line);

// An Error names the file and the line. Slots and latency come from `defaults`, as does the
// capacity of a line that gives no speed.
base::Result<Network> read_ibnetdiscover(const std::string& path, const ClusterDefaults& defaults);

}  // namespace fathom::simulator
