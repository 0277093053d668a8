// SPDX-License-Identifier: BSD-3-Clause
// What the links and hosts of a cluster have where its description leaves it open.
#pragma once

#include <cstdint>
#include <string>

namespace fathom::simulator {

struct ClusterDefaults {
  std::uint32_t slots = 1;
  double capacity_Bps = 12.5e9;
  double latency_s = 0;
  std::string
      node;  // hwloc's XML of the machines that the hosts are (formats/node_topology.h); none: they are not divided
  double node_capacity_Bps = 20e9;  // of links inside machines
};

}  // namespace fathom::simulator
