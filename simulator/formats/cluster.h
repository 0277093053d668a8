// SPDX-License-Identifier: BSD-3-Clause
// Loads a cluster, as the user specifies it, as a network.
#pragma once

#include <string>

#include "base/result.h"
#include "simulator/network/cluster_defaults.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

// Whether `cluster` specifies a topology, whose hosts are generated, rather than a file.
bool is_specification(const std::string& cluster);

// `cluster` is a topology specification ("torus:dims=4,4,4", see topology.h) or a file: GraphML, a
// SimGrid platform, Slurm's topology.conf or topology.yaml, or the output of ibnetdiscover. The
// content decides which; the Error for a file that is none of them lists these formats.
base::Result<Network> load_cluster(const std::string& cluster,
                                   const ClusterDefaults& defaults = {});

}  // namespace fathom::simulator
