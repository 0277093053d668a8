// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/place.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/json/writer.h"
#include "cli/commands/cluster_options.h"
#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "cli/runs/run_directory.h"
#include "cli/terminal/units.h"
#include "simulator/formats/cluster.h"
#include "simulator/placement/advisor.h"
#include "simulator/placement/launcher_files.h"
#include "simulator/placement/registry.h"
#include "simulator/routing/registry.h"

namespace fathom::cli {
namespace {

using simulator::HostId;
using simulator::Objective;
using simulator::Scores;

constexpr std::size_t kMostFlowsTimed =
    200'000;  // above this, the flow model runs only if it is the objective

struct PlaceOptions {
  std::string run, cluster;
  std::vector<std::string> hosts;
  std::string selection = "linear";
  std::vector<std::string> routings = {"dmodk"};
  std::string objective = "congestion";
  std::string format, path;
  std::uint64_t seed = 1, moves = simulator::SearchEffort{}.moves;
  simulator::ClusterDefaults defaults;
  bool json = false;
  bool list = false;
  bool force = false;
};

// Hosts of the cluster by name, or by the name up to the first dot; several for a machine with
// parts.
std::vector<HostId> hosts_named(const simulator::Network& network, const std::string& name) {
  const std::vector<HostId> hosts = network.hosts_named(name);
  return hosts.empty() ? network.hosts_named(name.substr(0, name.find('.'))) : hosts;
}

// Where the ranks ran according to the profile, filling a machine's parts in order; empty if a host
// is not in this cluster, or has too many ranks.
simulator::Placement recorded(const simulator::Network& network, const simulator::Job& job) {
  simulator::Placement placement;
  std::vector<std::uint32_t> used(network.host_count(), 0);
  for (const std::string& name : job.hosts) {
    const std::vector<HostId> parts = hosts_named(network, name);
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
  for (const std::string& name : options.hosts) {
    const std::vector<HostId> parts = hosts_named(network, name);
    if (parts.empty())
      return base::Error{fmt::format("'{}' has no host '{}'", network.name(), name)};
    for (const HostId host : parts) {
      if (std::count(hosts.begin(), hosts.end(), host))
        return base::Error{fmt::format("host '{}' is named twice", name)};
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
  return std::all_of(placement.begin(), placement.end(),
                     [&](HostId host) { return std::count(hosts.begin(), hosts.end(), host) > 0; });
}

std::string scores_text(const Scores& scores, bool with_time) {
  return fmt::format("{:>12.5g} {:>12} {:>12} {:>12}", scores[Objective::kCongestion],
                     with_time ? fmt::format("{:.5g}", scores[Objective::kTime]) : "-",
                     human_bytes(scores[Objective::kHopBytes]),
                     human_bytes(scores[Objective::kHostBytes]));
}

std::string gain_text(double before, double after) {
  return before > 0 ? fmt::format("{:+.1f} %", 100 * (after / before - 1)) : "0";
}

void print_advice(const simulator::AdviceRequest& request, const simulator::Advice& advice) {
  std::printf("%s on %s: %lld ranks, %zu hosts; objective: %s\n\n",
              printable(request.job.name).c_str(), printable(request.network.name()).c_str(),
              static_cast<long long>(request.job.ranks), request.hosts.size(),
              simulator::kObjectiveNames[static_cast<std::size_t>(request.objective)]);
  std::printf("%-12s %-12s %12s %12s %12s %12s\n", "placement", "routing", "congestion", "time, s",
              "hop-bytes", "host-bytes");
  for (const simulator::Candidate& candidate : advice.candidates) {
    std::printf("%-12s %-12s %s\n", candidate.placement.c_str(), candidate.routing.c_str(),
                scores_text(candidate.scores, request.with_time).c_str());
  }
  std::printf("%-12s %-12s %s\n", "lower bound", "any",
              scores_text(advice.bounds, request.with_time).c_str());
  const simulator::Candidate& best = advice.candidates[1];
  const Scores& present = advice.candidates.front().scores;
  std::printf("\nbest: %s with %s, compared with the present placement:\n ", best.placement.c_str(),
              best.routing.c_str());
  for (std::size_t at = 0; at < simulator::kObjectiveNames.size(); ++at) {
    if (static_cast<Objective>(at) == Objective::kTime && !request.with_time) continue;
    std::printf(" %s %s%s", simulator::kObjectiveNames[at],
                gain_text(present.value[at], best.scores.value[at]).c_str(),
                at + 1 < simulator::kObjectiveNames.size() ? "," : "\n");
  }
  const double bound = advice.bounds[request.objective], reached = best.scores[request.objective];
  if (reached <= bound * (1 + 1e-9)) {
    std::printf("no placement on these hosts can do better\n");
  } else if (bound > 0) {
    std::printf("no placement can go below %.3g of that: stop when %.3g × is near enough\n",
                bound / reached, reached / bound);
  }
}

void write_scores(base::JsonWriter& json, const simulator::AdviceRequest& request,
                  const Scores& scores) {
  json.field("congestion", scores[Objective::kCongestion]);
  json.field("seconds", request.with_time ? std::optional(scores[Objective::kTime]) : std::nullopt);
  json.field("hop_bytes", scores[Objective::kHopBytes]);
  json.field("host_bytes", scores[Objective::kHostBytes]);
}

// Schema fathom-placement/1: the present placement first, then the best, then the others.
std::string advice_json(const simulator::AdviceRequest& request, const simulator::Advice& advice) {
  return base::json_text(
             base::kReadableIndent,
             [&](base::JsonWriter& json) {
               json.field("schema", "fathom-placement/1");
               json.field("job", request.job.name);
               json.field("cluster", request.network.name());
               json.field("ranks", request.job.ranks);
               json.field("hosts", request.hosts.size());
               json.field("objective",
                          simulator::kObjectiveNames[static_cast<std::size_t>(request.objective)]);
               json.objects(
                   "candidates", advice.candidates, [&](const simulator::Candidate& candidate) {
                     json.field("placement", candidate.placement);
                     json.field("routing", candidate.routing);
                     write_scores(json, request, candidate.scores);
                     json.list("host_of_rank", candidate.places,
                               [&](HostId host) { json.value(request.network.machine(host)); });
                   });
               json.object("lower_bound", [&] { write_scores(json, request, advice.bounds); });
             }) +
         "\n";
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
  std::string help = (*format)->help;
  if (const std::size_t at = help.find("FILE"); at != std::string::npos)
    help.replace(at, 4, options.path);
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

int run_place(const PlaceOptions& options) {
  const auto refuse = [](const std::string& why) { return fail(kWrongUsage, "place", why); };
  const auto give_up = [](const std::string& why) { return fail(kFailed, "place", why); };
  if (options.list) return list_placement_formats();
  if (options.run.empty() || options.cluster.empty())
    return refuse("name a run, and a cluster with --cluster; see fathom place --help");
  if (options.format.empty() != options.path.empty())
    return refuse("give both --format FORMAT and -o FILE, or neither");
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
  const bool with_time = *objective == Objective::kTime || job->pairs.size() <= kMostFlowsTimed;
  const simulator::AdviceRequest request{*network, *job,       *hosts,       present,
                                         routers,  *objective, options.seed, {options.moves},
                                         with_time};
  const auto advice = simulator::advise(request);
  if (!advice) return give_up(advice.error().message);
  if (options.json) {
    std::fputs(advice_json(request, *advice).c_str(), stdout);
  } else {
    print_advice(request, *advice);
  }
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
           "routing of the network; of several, the best is searched for too (default: dmodk)");
  app.add_option("--objective", options->objective,
                 "what to minimise: congestion, time, hop-bytes or host-bytes")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--moves", options->moves, "maximum number of moves to try")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seed", options->seed, "seed of the random numbers; same seed, same result")
      ->type_name("N")
      ->capture_default_str();
  add_cluster_defaults(app, options->defaults);
  app.add_option("-o,--output", options->path, "write the best placement to FILE")
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
