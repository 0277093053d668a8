// SPDX-License-Identifier: BSD-3-Clause
// Slurm's topology.conf (topology/tree): SwitchName=… with Switches=… or Nodes=…, each a host list
// such as "rack[1-3,07],login" (slurm.conf(5)). One cable joins a switch to each of its children.
// The file contains neither slots nor speeds; those come from ClusterDefaults.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulator/network/cluster_defaults.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

// An Error names the file and the line.
base::Result<Network> read_slurm_topology(const std::string& path, const ClusterDefaults& defaults);

// The names in a host list, in order. An Error says what is wrong with it.
base::Result<std::vector<std::string>> expand_host_list(std::string_view list);

}  // namespace fathom::simulator
