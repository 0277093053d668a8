// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/cluster_options.h"

namespace fathom::cli {

void add_cluster_defaults(CLI::App& app, simulator::ClusterDefaults& defaults) {
  app.add_option("--slots", defaults.slots,
                 "processes that a host takes, where the cluster does not say")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->capture_default_str();
  app.add_option("--capacity", defaults.capacity_Bps,
                 "capacity of a link in bytes/s, where the cluster does not say")
      ->type_name("NUMBER")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  app.add_option(
         "--node", defaults.node,
         "hwloc's XML of the hosts (lstopo FILE.xml): their sockets and NUMA domains become "
         "part of the network")
      ->type_name("FILE");
  app.add_option("--node-capacity", defaults.node_capacity_Bps,
                 "capacity of a link inside a host, in bytes/s")
      ->type_name("NUMBER")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
}

}  // namespace fathom::cli
