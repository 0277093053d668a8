// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/registry.h"

#include "base/named_rows.h"
#include "simulator/routing/detour.h"
#include "simulator/routing/dimension_order.h"
#include "simulator/routing/given.h"
#include "simulator/routing/greedy.h"
#include "simulator/routing/modulo.h"
#include "simulator/routing/oblivious.h"
#include "simulator/routing/optimal.h"

namespace fathom::simulator {
namespace {

constexpr RouterRow kRouters[] = {
    {"dmodk", "shortest paths, chosen by the destination's number", false, make_dmodk},
    {"smodk", "shortest paths, chosen by the source's number", false, make_smodk},
    {"minimal", "shortest paths, the first choice at every hop", false, make_minimal},
    {"random", "shortest paths, drawn for each pair of hosts", false, make_random},
    {"ecmp", "shortest paths, each switch hashing each pair of processes", true, make_ecmp},
    {"valiant", "a detour over a switch drawn for each pair of hosts", false, make_valiant},
    {"ugal", "heaviest first, the least loaded of some shortest paths and some detours", false,
     make_ugal},
    {"dor", "dimension order, on a torus, mesh or HyperX", false, make_dimension_order},
    {"greedy-sum", "heaviest first, each on the shortest path with the least total load", false,
     make_greedy_sum},
    {"greedy-max", "heaviest first, each on the shortest path with the least loaded worst link",
     false, make_greedy_max},
    {"given", "as the cluster's file prescribes (SimGrid platforms)", false, make_given},
    {"optimal", "split over any paths so that the worst link is least loaded, with a lower bound",
     false, make_optimal},
};

}  // namespace

std::span<const RouterRow> routers() { return kRouters; }

const RouterRow& default_router(const Network& network) {
  return **find_router(network.given_routes() ? "given" : "dmodk");
}

base::Result<const RouterRow*> find_router(std::string_view name) {
  return base::find_row(routers(), "routing", name);
}

}  // namespace fathom::simulator
