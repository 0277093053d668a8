// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/simulator/cluster.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "base/json/writer.h"
#include "cli/commands/simulator/cluster_options.h"
#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "cli/terminal/units.h"
#include "simulator/formats/cluster.h"
#include "simulator/formats/graphml.h"
#include "simulator/formats/simgrid_writer.h"
#include "simulator/routing/registry.h"

namespace fathom::cli {
namespace {

struct ClusterCommand {
  std::string cluster;
  std::string format;
  std::string path;
  std::string routing;  // empty: as needs_written_routes() says
  std::uint64_t seed = 1;
  simulator::ClusterDefaults defaults;
  bool force = false;
  bool json = false;
  bool list = false;
};

struct ClusterFigures {
  std::uint64_t host_links = 0, switch_links = 0;
  double least_Bps = 0, most_Bps = 0;
};

ClusterFigures figures_of(const simulator::Network& network) {
  ClusterFigures figures;
  for (simulator::LinkId id = 0; id < network.link_count(); ++id) {
    const double capacity_Bps = network.link(id).capacity_Bps;
    ++(network.joins_switches(id) ? figures.switch_links : figures.host_links);
    figures.least_Bps = id == 0 ? capacity_Bps : std::min(figures.least_Bps, capacity_Bps);
    figures.most_Bps = std::max(figures.most_Bps, capacity_Bps);
  }
  return figures;
}

void print_cluster(const simulator::Network& network) {
  const ClusterFigures figures = figures_of(network);
  std::printf("%s\n", printable(network.name()).c_str());
  std::printf("hosts     %u with %llu slots\n", network.host_count(),
              static_cast<unsigned long long>(network.total_slots()));
  std::printf("switches  %u\n", network.switch_count());
  std::printf("links     %u, one for each direction: %llu between switches, %llu of hosts\n",
              network.link_count(), static_cast<unsigned long long>(figures.switch_links),
              static_cast<unsigned long long>(figures.host_links));
  if (network.link_count() > 0) {
    const std::string least = human_bytes(figures.least_Bps), most = human_bytes(figures.most_Bps);
    std::printf("capacity  %s of a link\n",
                (least == most ? least + "/s" : least + "/s to " + most + "/s").c_str());
  }
  std::printf("routes    %s\n", network.given_routes() ? "given by the file (routing given)"
                                                       : "not given (routing dmodk by default)");
}

// Schema fathom-cluster/1.
std::string cluster_json(const simulator::Network& network) {
  const ClusterFigures figures = figures_of(network);
  return base::json_text(base::kReadableIndent,
                         [&](base::JsonWriter& json) {
                           json.field("schema", "fathom-cluster/1");
                           json.field("cluster", network.name());
                           json.field("hosts", network.host_count());
                           json.field("slots", network.total_slots());
                           json.field("switches", network.switch_count());
                           json.field("links", network.link_count());
                           json.field("links_between_switches", figures.switch_links);
                           json.field("least_capacity_Bps", figures.least_Bps);
                           json.field("most_capacity_Bps", figures.most_Bps);
                           json.field("routes_given", network.given_routes() != nullptr);
                         }) +
         "\n";
}

base::Status write_cluster(const simulator::Network& network, const ClusterCommand& options,
                           const simulator::RouterRow* router) {
  if (options.format == "graphml") return simulator::write_graphml(network, options.path);
  if (!router && simulator::needs_written_routes(network))
    router = &simulator::default_router(network);
  return simulator::write_simgrid_platform(network, options.path, router, {options.seed});
}

int run_cluster(const ClusterCommand& options) {
  const auto refuse = [](const std::string& why) { return fail(kWrongUsage, "cluster", why); };
  const auto give_up = [](const std::string& why) { return fail(kFailed, "cluster", why); };
  if (options.list) {
    std::printf("%-12s %s\n%-12s %s\n", "graphml", "nodes and links, for Fathom and graph tools",
                "simgrid", "a platform file, XML");
    return kFine;
  }
  if (options.cluster.empty()) return refuse("name a cluster; see fathom cluster --help");
  if (options.format.empty() != options.path.empty())
    return refuse("give both --format FORMAT and -o FILE, or neither");
  if (!options.format.empty() && options.format != "graphml" && options.format != "simgrid")
    return refuse("there is no format '" + options.format + "'; there are graphml, simgrid");
  if (!options.routing.empty() && options.format != "simgrid")
    return refuse("--routing needs --format simgrid: only platforms have routes");
  const simulator::RouterRow* router = nullptr;
  if (!options.routing.empty()) {
    const auto found = simulator::find_router(options.routing);
    if (!found) return refuse(found.error().message);
    router = *found;
  }
  std::error_code ignored;
  if (!options.path.empty() && !options.force && std::filesystem::exists(options.path, ignored)) {
    return refuse("'" + options.path +
                  "' already exists; choose another file with -o, or replace it with --force");
  }
  const auto network = simulator::load_cluster(options.cluster, options.defaults);
  if (!network) return give_up(network.error().message);
  if (!options.path.empty()) {
    if (auto written = write_cluster(*network, options, router); !written)
      return give_up(written.error().message);
    std::fprintf(stderr, "fathom: the cluster is in %s\n", options.path.c_str());
  }
  if (options.json) {
    std::fputs(cluster_json(*network).c_str(), stdout);
  } else {
    print_cluster(*network);
  }
  return kFine;
}

}  // namespace

Action declare_cluster(CLI::App& app) {
  auto options = std::make_shared<ClusterCommand>();
  app.add_option("CLUSTER", options->cluster,
                 "GraphML, SimGrid, Slurm or ibnetdiscover file, or KIND:key=value;... (see fathom "
                 "simulate --list)")
      ->type_name("");
  app.add_option("-o,--output", options->path, "write the cluster to FILE")->type_name("FILE");
  app.add_option("--format,--to", options->format, "format of FILE: graphml or simgrid")
      ->type_name("FORMAT");
  app.add_option("--routing", options->routing,
                 "write this routing's route between every two hosts into a SimGrid platform "
                 "(default: those that the cluster's file prescribes; without any, SimGrid "
                 "looks for shortest paths)")
      ->type_name("NAME");
  app.add_option("--seed", options->seed, "seed of the random numbers; same seed, same result")
      ->type_name("N")
      ->capture_default_str();
  add_cluster_defaults(app, options->defaults);
  app.add_flag("--force", options->force, "replace FILE if it exists");
  app.add_flag("--json", options->json, "print the figures as JSON, for programs");
  app.add_flag("--list", options->list, "list the formats, and exit");
  return [options] { return run_cluster(*options); };
}

}  // namespace fathom::cli
