// SPDX-License-Identifier: BSD-3-Clause
// Properties of a cluster's links and hosts, used where its description does not give them.
#pragma once

#include <cstdint>
#include <string>

namespace fathom::simulator {

struct ClusterDefaults {
  std::uint32_t slots = 1;
  double capacity_Bps = 12.5e9;
  double latency_s = 0;
  // hwloc's XML of the machines that the hosts are (formats/node_topology.h); empty: hosts are not
  // divided.
  std::string node;
  double node_capacity_Bps = 20e9;  // of links inside machines
};

}  // namespace fathom::simulator
