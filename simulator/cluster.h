// A cluster as the user names it, turned into a network.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "simulator/network.h"

namespace fathom::simulator {

// What holds where a file or a specification does not tell.
struct ClusterDefaults {
  std::uint32_t slots = 1;
  double capacity_Bps = 12.5e9;
  double latency_s = 0;
  std::string node;  // hwloc's XML of the machines that the hosts are (node_topology.h); none: they are not divided
  double node_capacity_Bps = 20e9;  // of links inside machines
};

// Whether `cluster` is a specification of a topology, whose hosts are made up, and not a file.
bool is_specification(const std::string& cluster);

// `cluster` is a specification of a topology ("torus:dims=4,4,4", see topology.h) or a file: GraphML, a
// SimGrid platform, Slurm's topology.conf or the output of ibnetdiscover, told apart by what stands in it.
base::Result<Network> load_cluster(const std::string& cluster, const ClusterDefaults& defaults = {});

}  // namespace fathom::simulator
