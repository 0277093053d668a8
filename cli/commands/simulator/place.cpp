// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/simulator/place.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "cli/commands/simulator/cluster_options.h"
#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "cli/language/result_output.h"
#include "cli/language/shell_words.h"
#include "cli/pages/placement_page.h"
#include "cli/runs/run_directory.h"
#include "cli/terminal/units.h"
#include "simulator/formats/cluster.h"
#include "simulator/network/host_names.h"
#include "simulator/placement/advisor.h"
#include "simulator/placement/launcher_files.h"
#include "simulator/placement/registry.h"
#include "simulator/routing/registry.h"
#include "simulator/run/one_job.h"

namespace fathom::cli {
namespace {

using simulator::HostId;
using simulator::Objective;

struct PlaceOptions {
  std::string run, cluster;
  std::vector<std::string> hosts;
  std::string selection = "linear";
  std::vector<std::string> routings;  // empty: the cluster's own
  std::string objective = "congestion";
  std::string format, path;
  std::uint64_t seed = 1, moves = 0;
  simulator::ClusterDefaults defaults;
  bool json = false;
  bool list = false;
  bool force = false;
};

bool wants_json(const PlaceOptions& options) {
  return ResultOutput{options.json, options.path, options.force}.wants_json();
}

// Hosts of the cluster by name, or by the name up to the first dot; several for a machine with
// parts.
std::span<const HostId> hosts_named(const simulator::HostNames& known, const std::string& name) {
  const std::span<const HostId> hosts = known.of(name);
  return hosts.empty() ? known.of(name.substr(0, name.find('.'))) : hosts;
}

// Where the ranks ran according to the profile, filling a machine's parts in order; empty if a host
// is not in this cluster, or has too many ranks.
simulator::Placement recorded(const simulator::Network& network, const simulator::Job& job) {
  simulator::Placement placement;
  std::vector<std::uint32_t> used(network.host_count(), 0);
  const simulator::HostNames known(network);
  for (const std::string& name : job.hosts) {
    const std::span<const HostId> parts = hosts_named(known, name);
    const auto part = std::find_if(parts.begin(), parts.end(),
                                   [&](HostId host) { return used[host] < network.slots(host); });
    if (part == parts.end()) return {};
    ++used[*part];
    placement.push_back(*part);
  }
  return placement;
}

base::Result<std::vector<HostId>> chosen_hosts(const simulator::Network& network,
                                               const simulator::Job& job,
                                               const PlaceOptions& options,
                                               const simulator::Placement& present) {
  std::vector<HostId> hosts;
  std::vector<char> taken(network.host_count(), 0);
  const simulator::HostNames known(network);
  for (const std::string& name : options.hosts) {
    const std::span<const HostId> parts = hosts_named(known, name);
    if (parts.empty())
      return base::Error{fmt::format("'{}' has no host '{}'", network.name(), name)};
    for (const HostId host : parts) {
      if (taken[host]++) return base::Error{fmt::format("host '{}' is named twice", name)};
      hosts.push_back(host);
    }
  }
  if (!hosts.empty()) return hosts;
  if (!present.empty()) {
    const std::set<HostId> distinct(present.begin(), present.end());
    return std::vector<HostId>(distinct.begin(), distinct.end());
  }
  const auto selector = simulator::find_selector(options.selection);
  if (!selector) return selector.error();
  return simulator::select_hosts(**selector, {network, job.ranks, {}, options.seed});
}

bool uses_only(const simulator::Placement& placement, const std::vector<HostId>& hosts) {
  const std::set<HostId> chosen(hosts.begin(), hosts.end());
  return std::all_of(placement.begin(), placement.end(),
                     [&](HostId host) { return chosen.contains(host); });
}

// Loads of the links with a candidate's placement and routing, on a network that carries nothing
// else.
base::Result<simulator::LinkUse> loads_of(const simulator::AdviceRequest& request,
                                          const simulator::Candidate& candidate) {
  simulator::Choice choice;
  choice.given_placement = candidate.places;
  choice.seed = request.seed;
  const auto router = simulator::find_router(candidate.routing);
  if (!router) return router.error();
  choice.router = *router;
  auto run = simulator::run_link_load(request.network, request.job, choice);
  if (!run) return run.error();
  return std::move(run->use);
}

base::Result<PlacementLoads> loads_of(const simulator::AdviceRequest& request,
                                      const simulator::Advice& advice) {
  auto before = loads_of(request, advice.candidates[0]);
  if (!before) return before.error();
  auto after = loads_of(request, advice.candidates[1]);
  if (!after) return after.error();
  return PlacementLoads{std::move(*before), std::move(*after)};
}

base::Status write_placement(const PlaceOptions& options, const simulator::Network& network,
                             const simulator::Candidate& best,
                             const simulator::Placement& present) {
  const auto format = simulator::find_placement_format(options.format);
  if (!format) return format.error();
  const auto text = (*format)->text(network, best.places, present);
  if (!text) return text.error();
  base::AtomicFile file;
  if (auto opened = file.open(options.path, base::AtomicFile::Existing::kReplace); !opened)
    return opened;
  file.append(*text);
  if (auto written = file.commit(); !written) return written;
  const std::string help = simulator::usage_of(**format, shell_word(options.path));
  std::fprintf(stderr, "fathom: the placement is in %s: %s\n", options.path.c_str(), help.c_str());
  if (simulator::is_specification(options.cluster)) {
    std::fprintf(stderr,
                 "fathom: the hosts of '%s' are made up (%s, …): give the cluster as a file to "
                 "have the names of real hosts\n",
                 printable(options.cluster).c_str(), network.machine(best.places.front()).c_str());
  }
  return base::Done{};
}

int list_placement_formats() {
  for (const auto& format : simulator::placement_formats())
    std::printf("%-12s %s\n", format.name, format.help);
  return kFine;
}

// On a terminal only: one line, replaced each time the text changes.
simulator::SearchProgress shown_progress() {
  if (!isatty(STDERR_FILENO)) return {};
  return [shown = std::string()](const char* what, double part) mutable {
    std::string text = fmt::format("fathom: {}: {:.0f} %", what, 100 * part);
    if (text == shown) return;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
    shown = std::move(text);
  };
}

int run_place(const PlaceOptions& options) {
  const auto refuse = [](const std::string& why) { return fail(kWrongUsage, "place", why); };
  const auto give_up = [](const std::string& why) { return fail(kFailed, "place", why); };
  if (options.list) return list_placement_formats();
  if (options.run.empty() || options.cluster.empty())
    return refuse("name a run, and a cluster with --cluster; see fathom place --help");
  const bool writes_json = options.format.empty() && wants_json(options);
  if (options.format.empty() != options.path.empty() && !writes_json)
    return refuse(
        "give both --format FORMAT and -o FILE, or neither; without a format, FILE.json holds the "
        "result as JSON");
  if (!options.format.empty()) {
    if (auto format = simulator::find_placement_format(options.format); !format)
      return refuse(format.error().message);
  }
  std::error_code ignored;
  if (!options.path.empty() && !options.force && std::filesystem::exists(options.path, ignored)) {
    return refuse("'" + options.path +
                  "' already exists; choose another file with -o, or replace it with --force");
  }
  const auto objective = simulator::find_objective(options.objective);
  if (!objective) return refuse(objective.error().message);
  std::vector<const simulator::RouterRow*> routers;
  for (const std::string& name : options.routings) {
    const auto router = simulator::find_router(name);
    if (!router) return refuse(router.error().message);
    if (name == "optimal")
      return refuse(
          "routing 'optimal' splits flows, which placing processes cannot do; choose another");
    routers.push_back(*router);
  }
  const auto network = simulator::load_cluster(options.cluster, options.defaults);
  if (!network) return give_up(network.error().message);
  if (routers.empty()) routers.push_back(&simulator::default_router(*network));
  const auto path = job_of(options.run);
  if (!path) return give_up(path.error().message);
  const auto job = simulator::load_job(*path);
  if (!job) return give_up(job.error().message);
  simulator::Placement present = recorded(*network, *job);
  const auto hosts = chosen_hosts(*network, *job, options, present);
  if (!hosts) return give_up(hosts.error().message);
  if (present.empty() || !uses_only(present, *hosts)) {
    std::fprintf(stderr,
                 "fathom: the job did not run on these hosts of the cluster; the gain is measured "
                 "against placement 'block'\n");
    auto block = simulator::place_processes(**simulator::find_placement("block"),
                                            {*network, *job, *hosts, options.seed});
    if (!block) return give_up(block.error().message);
    present = std::move(*block);
  }
  const simulator::AdviceRequest request{
      *network, *job,       *hosts,       present,
      routers,  *objective, options.seed, {options.moves, shown_progress()}};
  const auto advice = simulator::advise(request);
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r\033[K");
  if (!advice) return give_up(advice.error().message);
  const auto loads = loads_of(request, *advice);
  if (!loads) return give_up(loads.error().message);
  if (writes_json) {
    return deliver({options.json, options.path, options.force}, "place",
                   placement_json(request, *advice, *loads));
  }
  std::fputs((options.json ? placement_json(request, *advice, *loads)
                           : placement_page(request, *advice, *loads, Terminal::of_stdout()))
                 .c_str(),
             stdout);
  if (options.format.empty()) return kFine;
  const auto written = write_placement(options, *network, advice->candidates[1], present);
  return written ? kFine : give_up(written.error().message);
}

}  // namespace

Action declare_place(CLI::App& app) {
  auto options = std::make_shared<PlaceOptions>();
  app.add_option("RUN", options->run, "run directory, profile.json, or PFProf's results")
      ->type_name("");
  app.add_option("--cluster", options->cluster,
                 "GraphML, SimGrid, Slurm or ibnetdiscover file, or KIND:key=value;... (see fathom "
                 "simulate --list)")
      ->type_name("CLUSTER");
  add_list(app, "--hosts", options->hosts, "NAME,...",
           "hosts that the job may use (default: those it ran on)");
  app.add_option("--selection", options->selection,
                 "how hosts are selected if the job did not run on this cluster")
      ->type_name("NAME")
      ->capture_default_str();
  add_list(app, "--routing", options->routings, "NAME,...",
           "routing of the network; of several, the best is searched for too (default: as for "
           "fathom simulate)");
  app.add_option("--objective", options->objective,
                 "what to minimise: congestion, time, hop-bytes or host-bytes")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option(
         "--moves", options->moves,
         "number of moves to try (default: 60,000 per rank, but 1 to 60 million; 20 million "
         "above 2,048 ranks)")
      ->type_name("N")
      ->check(above_zero());
  app.add_option("--seed", options->seed, "seed of the random numbers; same seed, same result")
      ->type_name("N")
      ->capture_default_str();
  add_cluster_defaults(app, options->defaults);
  app.add_option("-o,--output", options->path,
                 "write the best placement to FILE; without --format, the result to FILE.json")
      ->type_name("FILE");
  app.add_option("--format,--to", options->format,
                 "format of FILE: rankfile, host, slurm or permutation (see --list)")
      ->type_name("FORMAT");
  app.add_flag("--force", options->force, "replace FILE if it exists");
  app.add_flag("--json", options->json, "print the result as JSON, for programs");
  app.add_flag("--list", options->list, "list the formats, and exit");
  return [options] { return run_place(*options); };
}

}  // namespace fathom::cli
