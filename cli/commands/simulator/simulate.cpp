// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/simulator/simulate.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/seconds.h"
#include "cli/commands/simulator/cluster_options.h"
#include "cli/commands/simulator/runs_page.h"
#include "cli/commands/simulator/simulate_compare.h"
#include "cli/commands/simulator/simulate_scenario.h"
#include "cli/commands/simulator/simulate_time.h"
#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "cli/pages/hot_links.h"
#include "cli/runs/results_folder.h"
#include "cli/runs/run_directory.h"
#include "cli/terminal/units.h"
#include "scenario/utilisation.h"
#include "simulator/formats/cluster.h"
#include "simulator/formats/graphml.h"
#include "simulator/jobs/distributions.h"
#include "simulator/jobs/patterns.h"
#include "simulator/network/failures.h"
#include "simulator/network/host_names.h"
#include "simulator/placement/choice.h"
#include "simulator/placement/launcher_files.h"
#include "simulator/placement/registry.h"
#include "simulator/routing/forwarding.h"
#include "simulator/routing/registry.h"
#include "simulator/run/results.h"
#include "simulator/scheduling/registry.h"
#include "simulator/topology/registry.h"

namespace fathom::cli {
namespace {

struct SimulateOptions {
  std::string scenario;
  std::vector<std::string> compared;
  std::string rankfile;
  unsigned threads = 0;
  std::vector<std::string> clusters;
  std::vector<std::string> jobs;
  std::vector<std::string> selections = {"linear"};
  std::vector<std::string> placements = {"block"};
  std::vector<std::string> routings;  // empty: the cluster's own
  std::vector<std::string> hosts;
  std::vector<std::string> machine;
  std::string model = "load";
  Window window;
  std::string directory;
  std::uint64_t seed = 1;
  std::vector<std::string> failed_links;
  double failed_share = 0;
  std::string table;
  simulator::ClusterDefaults defaults;
  bool host_links = false;
  bool json = false;
  bool snapshots = false;
  std::vector<std::uint64_t> snapshots_ns;
  bool list = false;
  bool force = false;
};

template <typename Rows>
void print_rows(const char* option, const Rows& rows) {
  std::printf("%s\n", option);
  for (const auto& row : rows) std::printf("  %-12s %s\n", row.name, row.help);
}

int list_algorithms() {
  print_rows("scheduler (scenarios)", simulator::schedulers());
  print_rows("distribution (scenarios)", simulator::distributions());
  print_rows("pattern (scenarios)", simulator::patterns());
  print_rows("--selection", simulator::selectors());
  print_rows("--placement", simulator::placements());
  std::printf("  %-12s %s\n", "rankfile:FILE", simulator::kRankfileHelp);
  print_rows("--routing", simulator::routers());
  print_rows("--cluster KIND:key=value;...", simulator::topologies());
  std::printf(
      "  all of them    slots=N (of a host), capacity=B/S (of a link), latency=S, taper=T,... (by "
      "level of switches)\nexamples\n");
  for (const auto& row : simulator::topologies()) std::printf("  %s\n", row.example);
  return kFine;
}

// What the named options resolve to. Every combination is simulated.
struct Plan {
  std::vector<const simulator::SelectorRow*> selectors;
  std::vector<simulator::PlacementChoice> placements;
  std::vector<const simulator::RouterRow*> routers;
  Model model = Model::kLoad;
  simulator::LogGops machine;
  bool is_single = false;  // single combination: print a full report
};

template <typename Row, typename Find>
base::Status look_up(const std::vector<std::string>& names, Find find,
                     std::vector<const Row*>& rows) {
  for (const std::string& name : names) {
    const auto row = find(name);
    if (!row) return row.error();
    rows.push_back(*row);
  }
  return base::Done{};
}

base::Result<Plan> make_plan(const SimulateOptions& options) {
  Plan plan;
  if (auto found = look_up(options.selections, simulator::find_selector, plan.selectors); !found) {
    return found.error();
  }
  for (const std::string& name : options.placements) {
    auto placement = simulator::parse_placement(name);
    if (!placement) return placement.error();
    plan.placements.push_back(std::move(*placement));
  }
  if (!options.rankfile.empty()) plan.placements = {{nullptr, options.rankfile}};
  if (auto found = look_up(options.routings, simulator::find_router, plan.routers); !found) {
    return found.error();
  }
  const auto model = model_named(options.model);
  if (!model) return model.error();
  plan.model = *model;
  if (!options.snapshots_ns.empty() && plan.model == Model::kLoad) {
    return base::Error{
        "--snapshots needs --model flow or replay; model load has no times, use --graphml"};
  }
  if (!options.machine.empty() && plan.model != Model::kReplay)
    return base::Error{"--loggops needs --model replay"};
  const auto machine = machine_from(options.machine);
  if (!machine) return machine.error();
  plan.machine = *machine;
  if (!options.table.empty() &&
      std::count(options.routings.begin(), options.routings.end(), "optimal")) {
    return base::Error{
        "routing 'optimal' splits flows, which a forwarding table cannot do; choose another"};
  }
  if (!options.hosts.empty()) plan.selectors.resize(1);  // unused
  if (plan.routers.empty()) plan.routers.resize(1);      // the cluster's own
  plan.is_single = options.clusters.size() * options.jobs.size() * plan.selectors.size() *
                       plan.placements.size() * plan.routers.size() ==
                   1;
  return plan;
}

base::Result<std::vector<simulator::HostId>> named_hosts(const simulator::Network& network,
                                                         const std::vector<std::string>& names) {
  std::vector<simulator::HostId> hosts;
  std::vector<char> taken(network.host_count(), 0);
  const simulator::HostNames known(network);
  for (const std::string& name : names) {
    const std::span<const simulator::HostId> parts = known.of(name);
    if (parts.empty())
      return base::Error{fmt::format("'{}' has no host '{}'", network.name(), name)};
    for (const simulator::HostId host : parts) {
      if (taken[host]++) return base::Error{fmt::format("host '{}' is named twice", name)};
      hosts.push_back(host);
    }
  }
  return hosts;
}

// Explains zeros, which would look like a fault.
void print_hint(const simulator::Job& job, const simulator::LoadSpread& spread, bool host_links) {
  if (host_links || spread.max_congestion > 0 || job.pairs.empty()) return;
  std::fprintf(stderr,
               "fathom: %s: no message crosses a link between switches; add --host-links to count "
               "the links of hosts too\n",
               printable(job.name).c_str());
}

base::Result<simulator::Network> with_failures(simulator::Network network,
                                               const SimulateOptions& options) {
  std::vector<simulator::LinkId> failed =
      simulator::draw_cables(network, options.failed_share, options.seed);
  for (const std::string& ends : options.failed_links) {
    const auto cables = simulator::find_cables(network, ends);
    if (!cables) return cables.error();
    failed.insert(failed.end(), cables->begin(), cables->end());
  }
  if (failed.empty()) return network;
  return simulator::without_links(network, failed);
}

// DIR/forwarding-N.csv or .yml; N numbers the runs from 1, in the order of the results.
base::Status write_table(const simulator::Network& network, const simulator::Job& job,
                         const simulator::Choice& choice, const SimulateOptions& options,
                         std::size_t number) {
  const auto placed = simulator::place_job(network, job, choice);
  if (!placed) return placed.error();
  simulator::ForwardingTable table(network, placed->demands);
  const auto routed = simulator::route_job(network, *placed, choice, table);
  if (!routed) return routed.error();
  const auto entries = options.table == "destination" ? table.per_destination() : table.per_flow();
  if (!entries) return entries.error();
  const std::string path = options.directory + "/forwarding-" + std::to_string(number);
  return options.table == "openflow"
             ? simulator::write_openflow(network, *entries, path + ".yml")
             : simulator::write_forwarding_csv(network, *entries, path + ".csv");
}

base::Status write_extras(const simulator::Network& network, const simulator::Job& job,
                          const simulator::Choice& choice, const simulator::LoadRun& run,
                          const SimulateOptions& options, std::size_t number) {
  if (options.snapshots) {
    const std::string path = options.directory + "/links-" + std::to_string(number) + ".graphml";
    if (auto written = simulator::write_graphml(network, path, &run.use); !written) return written;
  }
  if (options.table.empty()) return base::Done{};
  return write_table(network, job, choice, options, number);
}

base::Status simulate_load(const simulator::Network& network, const simulator::Job& job,
                           const Plan& plan, const simulator::Choice& choice,
                           const SimulateOptions& options, RunsPage& page,
                           simulator::ResultsWriter& results) {
  const auto run = simulator::run_link_load(network, job, choice);
  if (!run) return run.error();
  results.add(network, job.name, *run, options.host_links);
  const auto spread = simulator::load_spread(network, run->use.bytes, options.host_links);
  page.add(network, job, *run, spread, options.host_links);
  print_hint(job, spread, options.host_links);
  if (plan.is_single && !options.json)
    page.print(load_report(network, run->use, options.host_links));
  return write_extras(network, job, choice, *run, options, results.count());
}

// What each link has carried until `at_s`; proportional to time within an interval.
simulator::LinkUse carried_until(const simulator::Network& network,
                                 const simulator::LinkUsage& usage, double at_s) {
  simulator::LinkUse use(network);
  for (simulator::LinkId link = 0; link < network.link_count(); ++link) {
    for (std::size_t at = 0; at < usage.intervals(); ++at) {
      const double part = std::clamp(at_s / usage.interval_s() - static_cast<double>(at), 0.0, 1.0);
      use.bytes[link] += part * usage.bytes(link, at);
    }
  }
  return use;
}

// DIR/links-N.graphml at the end of the run, and links-N-at-T.graphml.
base::Status write_snapshots(const simulator::Network& network, const simulator::TimedRun& run,
                             const SimulateOptions& options, std::size_t number) {
  const std::string path = options.directory + "/links-" + std::to_string(number);
  for (const std::uint64_t at_ns : options.snapshots_ns) {
    const double at_s = base::seconds(at_ns);
    const simulator::LinkUse use = carried_until(network, *run.usage, at_s);
    const auto written =
        simulator::write_graphml(network, fmt::format("{}-at-{:g}.graphml", path, at_s), &use);
    if (!written) return written;
  }
  if (!options.snapshots) return base::Done{};
  const simulator::LinkUse use =
      carried_until(network, *run.usage, std::numeric_limits<double>::infinity());
  return simulator::write_graphml(network, path + ".graphml", &use);
}

// DIR/utilisation-N.csv, for replay also waiting-N.csv; N as for forwarding tables.
base::Status simulate_time(const simulator::Network& network, const ModelJob& job, const Plan& plan,
                           const simulator::Choice& choice, const SimulateOptions& options,
                           RunsPage& page, simulator::ResultsWriter& results) {
  const auto run = run_in_time(network, job, plan.model, plan.machine, choice);
  if (!run) return run.error();
  results.add_text(simulator::timed_json(network, job.job.name, *run, options.host_links));
  page.add(network, job, *run, plan.model);
  if (plan.is_single && !options.json) page.print(time_report(network, *run->usage, run->seconds));
  if (auto written = write_snapshots(network, *run, options, results.count()); !written)
    return written;
  if (!options.table.empty()) {
    if (auto written = write_table(network, job.job, choice, options, results.count()); !written)
      return written;
  }
  const std::string end = "-" + std::to_string(results.count()) + ".csv";
  if (run->busy) {
    const auto written = scenario::write_waiting(simulator::waiting_over_time(*run),
                                                 options.directory + "/waiting" + end);
    if (!written) return written;
  }
  return scenario::write_utilisation(network, *run->usage,
                                     options.directory + "/utilisation" + end);
}

base::Status set_placement(const simulator::Network& network,
                           const simulator::PlacementChoice& placement, simulator::Choice& choice) {
  choice.placement = placement.row;
  choice.given_placement.clear();
  if (placement.rankfile.empty()) return base::Done{};
  auto read = simulator::read_placement(network, placement.rankfile);
  if (!read) return read.error();
  choice.given_placement = std::move(*read);
  choice.placement_from = placement.name();
  return base::Done{};
}

base::Status simulate_job(const simulator::Network& network, const ModelJob& job, const Plan& plan,
                          const SimulateOptions& options, RunsPage& page,
                          simulator::ResultsWriter& results) {
  simulator::Choice choice;
  choice.seed = options.seed;
  auto hosts = named_hosts(network, options.hosts);
  if (!hosts) return hosts.error();
  choice.hosts = *hosts;
  for (const auto* selector : plan.selectors) {
    for (const simulator::PlacementChoice& placement : plan.placements) {
      const bool is_given = !placement.rankfile.empty();
      if (is_given && selector != plan.selectors.front())
        continue;  // the file is also the selection
      if (auto placed = set_placement(network, placement, choice); !placed) return placed;
      for (const auto* router : plan.routers) {
        choice.selector = selector;
        choice.router = router ? router : &simulator::default_router(network);
        const auto done =
            plan.model == Model::kLoad
                ? simulate_load(network, job.job, plan, choice, options, page, results)
                : simulate_time(network, job, plan, choice, options, page, results);
        if (!done) return base::Error{job.job.name + ": " + done.error().message};
      }
    }
  }
  return base::Done{};
}

base::Status simulate_all(const Plan& plan, const SimulateOptions& options,
                          const std::vector<simulator::Network>& networks,
                          const std::vector<ModelJob>& jobs, simulator::ResultsWriter& results) {
  std::vector<std::string> placements;
  for (const simulator::PlacementChoice& placement : plan.placements)
    placements.push_back(placement.name());
  RunsPage page(networks, jobs, std::move(placements), plan.model, !options.json);
  for (const simulator::Network& network : networks) {
    for (const ModelJob& job : jobs) {
      auto status = simulate_job(network, job, plan, options, page, results);
      if (!status) return status;
    }
  }
  if (!plan.is_single) page.end();
  return results.finish();
}

// The first given option that is not one of these; empty if none.
std::string first_beside(const CLI::App& app, std::initializer_list<std::string_view> fitting) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() > 0 && std::find(fitting.begin(), fitting.end(), name) == fitting.end())
      return name;
  }
  return "";
}

int run_simulate(const SimulateOptions& options, const CLI::App& app) {
  const auto refuse = [](const std::string& why) { return fail(kWrongUsage, "simulate", why); };
  const auto give_up = [](const std::string& why) { return fail(kFailed, "simulate", why); };
  if (options.list) return list_algorithms();
  if (!options.compared.empty()) {
    const std::string beside = first_beside(app, {"--compare", "--output", "--force", "--json"});
    if (!beside.empty())
      return refuse("--compare compares results that are there already; leave out " + beside);
    return compare_simulations({options.compared, options.directory, options.force, options.json});
  }
  if (!options.scenario.empty()) {
    const std::string beside_scenario =
        first_beside(app, {"SCENARIO", "--output", "--threads", "--force", "--json"});
    if (beside_scenario.empty()) {
      return simulate_scenario(
          {options.scenario, options.directory, options.threads, options.force, options.json});
    }
    return refuse("a scenario sets its clusters, jobs and options itself; leave out " +
                  beside_scenario + ", and set it in " + options.scenario);
  }
  if (options.clusters.empty())
    return refuse("name a cluster with --cluster; see fathom simulate --help");
  if (options.jobs.empty()) return refuse("name a job with --job; see fathom simulate --help");
  if (options.directory.empty()) return refuse("name the folder for the results with -o DIR");
  if (auto fine = check(options.window); !fine) return refuse(fine.error().message);
  const auto plan = make_plan(options);
  if (!plan) return refuse(plan.error().message);
  std::vector<simulator::Network> networks;
  for (const std::string& cluster : options.clusters) {
    auto network = simulator::load_cluster(cluster, options.defaults);
    if (network) network = with_failures(std::move(*network), options);
    if (!network) return give_up(network.error().message);
    networks.push_back(std::move(*network));
  }
  std::vector<ModelJob> jobs;
  for (const std::string& path : options.jobs) {
    auto job = load_model_job(plan->model, path, options.window);
    if (!job) return give_up(job.error().message);
    jobs.push_back(std::move(*job));
  }
  if (auto taken = take_results_folder(options.directory, options.force); !taken)
    return refuse(taken.error().message);
  simulator::ResultsWriter results;
  if (auto opened = results.open(options.directory + "/results.json"); !opened) {
    return give_up(opened.error().message);
  }
  if (auto status = simulate_all(*plan, options, networks, jobs, results); !status) {
    return give_up(status.error().message);
  }
  if (options.json) {
    if (auto printed = print_results(options.directory); !printed)
      return give_up(printed.error().message);
  }
  std::fprintf(stderr, "fathom: all links in %s/results.json\n", options.directory.c_str());
  return kFine;
}

}  // namespace

Action declare_simulate(CLI::App& app) {
  auto options = std::make_shared<SimulateOptions>();
  app.add_option("SCENARIO", options->scenario,
                 "YAML file with clusters, algorithms and jobs (docs/scenarios.md)")
      ->type_name("");
  app.add_option("-o,--output", options->directory, "folder for results.json, created if needed")
      ->type_name("DIR");
  app.add_flag("--force", options->force, "replace the results that DIR holds");
  app.add_flag("--json", options->json,
               "print what results.json holds instead of the tables, for programs");
  app.add_option("--threads", options->threads,
                 "threads for the combinations of a scenario (default: one per core)")
      ->type_name("N")
      ->check(between(1, 1024));
  app.add_option("--cluster", options->clusters,
                 "GraphML, SimGrid, Slurm or ibnetdiscover file, or KIND:key=value;... (see "
                 "--list; may be given several times)")
      ->type_name("CLUSTER")
      ->allow_extra_args(false);
  app.add_option("--job", options->jobs,
                 "run directory, profile.json, or PFProf's results (may be given several times)")
      ->type_name("RUN")
      ->allow_extra_args(false);
  add_window(app, options->window, "; needs a trace, and model load or flow");
  auto* selection = add_list(app, "--selection", options->selections, "NAME,...",
                             "how hosts are selected (default: linear)");
  auto* hosts = add_list(app, "--hosts", options->hosts, "NAME,...",
                         "use these hosts, in this order, instead of a selection");
  auto* placement = add_list(app, "--placement", options->placements, "NAME,...",
                             "how processes are placed on the hosts; rankfile:FILE names the host "
                             "of each rank (default: block)");
  app.add_option("--rankfile", options->rankfile,
                 "same as --placement rankfile:FILE; replaces selection and placement")
      ->type_name("FILE")
      ->excludes(hosts, selection, placement);
  add_list(app, "--routing", options->routings, "NAME,...",
           "how routes through the network are chosen (default: given where the cluster's file "
           "prescribes routes, otherwise dmodk)");
  app.add_option("--model", options->model,
                 "what is computed: load (of links), flow (time, max-min fair), replay (of a trace "
                 "or FILE.goal)")
      ->type_name("NAME")
      ->capture_default_str();
  add_list(app, "--loggops", options->machine, "KEY=VALUE,...",
           "LogGOPS parameters of model replay: L=500,o=300,g=50,G=0.1,O=0,S=65536 (ns, ns/B, B)");
  app.add_option("--seed", options->seed, "seed of the random numbers; same seed, same result")
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--host-links", options->host_links,
               "also count the links of hosts, not only those between switches");
  add_cluster_defaults(app, options->defaults);
  add_list(app, "--failed-links", options->failed_links, "A=B,...",
           "cables that are broken, each named by its two ends");
  app.add_option("--failed-share", options->failed_share,
                 "share of the cables between switches that are broken, drawn with --seed")
      ->type_name("0..1")
      ->check(share());
  app.add_option("--table", options->table,
                 "write forwarding-N for each run: flow or destination (CSV), openflow (YAML)")
      ->type_name("KIND")
      ->check(one_of({"flow", "destination", "openflow"}));
  app.add_flag("--graphml", options->snapshots, "write links-N.graphml for each run");
  add_times(app, "--snapshots", options->snapshots_ns,
            "models flow and replay: write links-N-at-T.graphml, with what links have carried by "
            "then");
  app.add_option("--compare", options->compared,
                 "compare the results in these folders, and mark the best combination; -o DIR "
                 "writes comparison.json")
      ->type_name("DIR...");
  app.add_flag("--list", options->list, "list clusters and algorithms, and exit");
  return [options, &app] { return run_simulate(*options, app); };
}

}  // namespace fathom::cli
