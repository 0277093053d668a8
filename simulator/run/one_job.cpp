// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/run/one_job.h"

#include <utility>

namespace fathom::simulator {

namespace {

base::Result<Placement> placement_of(const Network& network, const Job& job, const Choice& choice) {
  if (!choice.given_placement.empty()) {
    if (choice.given_placement.size() == static_cast<std::size_t>(job.ranks))
      return choice.given_placement;
    return base::Error{"the placement is for " + std::to_string(choice.given_placement.size()) +
                       " ranks, but the job has " + std::to_string(job.ranks)};
  }
  std::vector<HostId> hosts = choice.hosts;
  if (hosts.empty()) {
    auto selected = select_hosts(*choice.selector, {network, job.ranks, {}, choice.seed});
    if (!selected) return selected.error();
    hosts = std::move(*selected);
  }
  return place_processes(*choice.placement, {network, job, hosts, choice.seed});
}

}  // namespace

std::string selection_name(const Choice& choice) {
  if (!choice.given_placement.empty()) return "file";
  return choice.hosts.empty() ? choice.selector->name : "hosts";
}

std::string placement_name(const Choice& choice) {
  return choice.given_placement.empty() ? choice.placement->name : choice.placement_from;
}

base::Result<PlacedJob> place_job(const Network& network, const Job& job, const Choice& choice) {
  auto placement = placement_of(network, job, choice);
  if (!placement) return placement.error();
  // A per-flow router may send the processes of two hosts over different paths, so it gets one demand per
  // pair of processes.
  const Granularity granularity =
      choice.router->per_flow ? Granularity::kProcesses : Granularity::kHosts;
  PlacedJob placed{std::move(*placement), {}};
  placed.demands = demands_of(job, placed.placement, granularity);
  return placed;
}

base::Status route_job(const Network& network, const PlacedJob& placed, const Choice& choice,
                       RouteSink& sink) {
  auto router = choice.router->make(network, {choice.seed});
  if (!router) return router.error();
  return (*router)->route(placed.demands, LinkUse(network), sink);
}

base::Result<LoadRun> run_link_load(const Network& network, const Job& job, const Choice& choice) {
  const auto placed = place_job(network, job, choice);
  if (!placed) return placed.error();
  auto router = choice.router->make(network, {choice.seed});
  if (!router) return router.error();
  auto use = link_load(network, **router, placed->demands, LinkUse(network));
  if (!use) return use.error();
  return LoadRun{selection_name(choice), placement_name(choice),
                 choice.router->name,    choice.seed,
                 std::move(*use),        (*router)->congestion_bound()};
}

}  // namespace fathom::simulator
