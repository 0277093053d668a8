#include "simulator/one_job.h"

#include <utility>

namespace fathom::simulator {

base::Result<PlacedJob> place_job(const Network& network, const Job& job, const Choice& choice) {
  std::vector<HostId> hosts = choice.hosts;
  if (hosts.empty()) {
    auto selected = select_hosts(*choice.selector, {network, job.ranks, {}, choice.seed});
    if (!selected) return selected.error();
    hosts = std::move(*selected);
  }
  auto placement = map_processes(*choice.mapper, {network, job, hosts, choice.seed});
  if (!placement) return placement.error();
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
  return LoadRun{choice.hosts.empty() ? choice.selector->name : "hosts", choice.mapper->name,
                 choice.router->name, choice.seed, std::move(*use), (*router)->congestion_bound()};
}

}  // namespace fathom::simulator
