// SPDX-License-Identifier: BSD-3-Clause
// Slurm's descriptions of a cluster's network; slurm_tree.h says what becomes of them.
//
//   topology.conf, topology/tree:   SwitchName=s0 Nodes=n[0-17] · SwitchName=top Switches=s[0-3]
//   topology.conf, topology/block:  BlockName=b1 Nodes=n[0-17] · BlockSizes=18,72
//   topology.yaml (Slurm 25.05):    any number of such topologies
//
// In topology.conf, case does not matter in keys, '#' begins a comment, a value may be in double
// quotes, blanks around '=' are allowed, and a line that ends in '\' continues on the next
// (slurm.conf(5) and src/common/parse_config.c). Names of hosts and switches are taken as they are.
//
// A topology.yaml may hold several topologies: the one with cluster_default is read, or else the first; those of kind
// `flat` name no hosts and are passed over.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "simulator/network/cluster_defaults.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

// Whether a file whose first line (not empty, no comment) is this can be one of the two.
bool is_slurm_conf_line(std::string_view line);
bool is_slurm_yaml_line(std::string_view line);

// An Error names the file and the line.
base::Result<Network> read_slurm_conf(const std::string& path, const ClusterDefaults& defaults);
base::Result<Network> read_slurm_yaml(const std::string& path, const ClusterDefaults& defaults);

}  // namespace fathom::simulator
