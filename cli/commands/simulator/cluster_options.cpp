// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/simulator/cluster_options.h"

#include "base/text.h"
#include "cli/commands/completion.h"
#include "cli/language/options.h"
#include "simulator/placement/launcher_files.h"
#include "simulator/placement/objective.h"
#include "simulator/placement/registry.h"
#include "simulator/routing/registry.h"

namespace fathom::cli {
namespace {

template <typename Rows>
std::string names_of(const Rows& rows) {
  return base::joined(rows, " ");
}

// Functions, not lists, because the registries are the only lists of these names.
const OptionWords kSimulatorWords[] = {
    {"simulate", "--selection", [] { return names_of(simulator::selectors()); }},
    {"simulate", "--placement", [] { return names_of(simulator::placements()); }},
    {"simulate", "--routing", [] { return names_of(simulator::routers()); }},
    {"simulate", "--model", [] { return std::string("load flow replay"); }},
    {"simulate", "--table", [] { return std::string("flow destination openflow"); }},
    {"cluster", "--format", [] { return std::string("graphml simgrid"); }},
    {"cluster", "--routing", [] { return names_of(simulator::routers()); }},
    {"place", "--selection", [] { return names_of(simulator::selectors()); }},
    {"place", "--routing", [] { return names_of(simulator::routers()); }},
    {"place", "--objective", [] { return base::joined(simulator::kObjectiveNames, " "); }},
    {"place", "--format", [] { return names_of(simulator::placement_formats()); }},
};

}  // namespace

std::span<const OptionWords> simulator_option_words() { return kSimulatorWords; }

void add_cluster_defaults(CLI::App& app, simulator::ClusterDefaults& defaults) {
  app.add_option("--slots", defaults.slots,
                 "processes that a host takes, where the cluster does not say")
      ->type_name("N")
      ->check(between(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--capacity", defaults.capacity_Bps,
                 "capacity of a link in bytes/s, where the cluster does not say")
      ->type_name("NUMBER")
      ->check(above_zero())
      ->capture_default_str();
  app.add_option(
         "--node", defaults.node,
         "hwloc's XML of the hosts (lstopo FILE.xml): their sockets and NUMA domains become "
         "part of the network")
      ->type_name("FILE");
  app.add_option("--node-capacity", defaults.node_capacity_Bps,
                 "capacity of a link inside a host, in bytes/s")
      ->type_name("NUMBER")
      ->check(above_zero())
      ->capture_default_str();
}

}  // namespace fathom::cli
