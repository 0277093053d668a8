// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/link_load.h"

#include <algorithm>
#include <cmath>

namespace fathom::simulator {

LoadFigures load_figures(const Network& network, const LinkUse& use, bool host_links) {
  LoadFigures figures;
  double links = 0, sum_of_squares = 0;  // Welford's method: mean and squares in one pass
  for (LinkId link = 0; link < network.link_count(); ++link) {
    if (!host_links && !network.joins_switches(link)) continue;
    const double congestion = use.bytes[link] / network.link(link).capacity_Bps;
    figures.max_traffic = std::max(figures.max_traffic, use.bytes[link]);
    figures.max_congestion = std::max(figures.max_congestion, congestion);
    figures.max_flows = std::max(figures.max_flows, use.flows[link]);
    const double before = congestion - figures.mean_congestion;
    figures.mean_congestion += before / ++links;
    sum_of_squares += before * (congestion - figures.mean_congestion);
  }
  if (links > 1) figures.congestion_deviation = std::sqrt(sum_of_squares / (links - 1));
  return figures;
}

base::Result<LinkUse> link_load(const Network& network, Router& router,
                                std::span<const Demand> demands, const LinkUse& background) {
  LinkUse use(network);
  UseSum sum(demands, use);
  if (base::Status status = router.route(demands, background, sum); !status) return status.error();
  return use;
}

}  // namespace fathom::simulator
