// SPDX-License-Identifier: BSD-3-Clause
// A cluster as the user names it, turned into a network.
#pragma once

#include <string>

#include "base/result.h"
#include "simulator/network/cluster_defaults.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

// Whether `cluster` is a specification of a topology, whose hosts are made up, and not a file.
bool is_specification(const std::string& cluster);

// `cluster` is a specification of a topology ("torus:dims=4,4,4", see topology.h) or a file:
// GraphML, a SimGrid platform, Slurm's topology.conf or the output of ibnetdiscover, told apart by
// what stands in it.
base::Result<Network> load_cluster(const std::string& cluster,
                                   const ClusterDefaults& defaults = {});

}  // namespace fathom::simulator
