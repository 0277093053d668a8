#include "simulator/registry.h"

#include "base/named_rows.h"
#include "simulator/map_bisection.h"
#include "simulator/map_treematch.h"
#include "simulator/mappers.h"
#include "simulator/placement_search.h"
#include "simulator/route_detour.h"
#include "simulator/route_dimension.h"
#include "simulator/route_greedy.h"
#include "simulator/route_modulo.h"
#include "simulator/route_oblivious.h"
#include "simulator/route_optimal.h"
#include "simulator/schedule_conservative.h"
#include "simulator/schedule_easy.h"
#include "simulator/schedule_fcfs.h"
#include "simulator/select_near.h"
#include "simulator/selectors.h"
#include "simulator/topology_dragonfly.h"
#include "simulator/topology_grid.h"
#include "simulator/topology_slimfly.h"
#include "simulator/topology_tree.h"

namespace fathom::simulator {
namespace {

constexpr SelectorRow kSelectors[] = {
    {"linear", "best fit among runs of consecutive free hosts", select_linear},
    {"random", "hosts drawn without replacement", select_random},
    {"switches", "hosts of as few switches as possible, near to each other", select_switches},
    {"contiguous", "consecutive free hosts of as few switches as possible", select_contiguous},
    {"fragmented", "one host of each switch in turn: what is left over on a full cluster",
     select_fragmented},
};

constexpr SchedulerRow kSchedulers[] = {
    {"fcfs", "in order of arrival", make_fcfs},
    {"easy", "later jobs may go first where they do not delay the first in the queue", make_easy},
    {"conservative", "later jobs may go first where they delay none that came before",
     make_conservative},
};

constexpr MapperRow kMappers[] = {
    {"block", "fill one host after the other", map_block},
    {"cyclic", "deal processes out one to each host in turn", map_cyclic},
    {"random", "block over the hosts in random order", map_random},
    {"bisection", "halves ranks and hosts again and again, so that little goes between the halves", map_bisection},
    {"treematch", "groups ranks that send each other most, up the tree of hosts and switches", map_treematch},
    {"search", "the best of these by hop-bytes, then swaps as long as that pays", map_search},
};

constexpr RouterRow kRouters[] = {
    {"dmodk", "shortest ways, chosen by the destination's number", false, make_dmodk},
    {"smodk", "shortest ways, chosen by the source's number", false, make_smodk},
    {"minimal", "shortest ways, the first choice at every hop", false, make_minimal},
    {"random", "shortest ways, drawn for each pair of hosts", false, make_random},
    {"ecmp", "shortest ways, each switch hashing each pair of processes", true, make_ecmp},
    {"valiant", "over a switch drawn for each pair of hosts", false, make_valiant},
    {"ugal", "heaviest first, the least loaded of some shortest ways and some detours", false,
     make_ugal},
    {"dor", "dimension order, on a torus, mesh or HyperX", false, make_dimension_order},
    {"greedy-sum", "heaviest first, each the shortest way with the least total load", false,
     make_greedy_sum},
    {"greedy-max", "heaviest first, each the shortest way with the least loaded worst link", false,
     make_greedy_max},
    {"optimal", "split over any ways so that the worst link is least loaded, with a lower bound", false,
     make_optimal},
};

constexpr TopologyRow kTopologies[] = {
    {"xgft", "extended generalized fat tree: m children, w parents, by level", "xgft:m=4,4,3;w=1,2,2",
     make_xgft},
    {"tree", "k-ary n-tree: n levels of switches with k links up and down", "tree:k=4;n=3",
     make_kary_tree},
    {"leafspine", "two levels, every leaf linked to every spine",
     "leafspine:leaves=8;spines=4;hosts=16", make_leaf_spine},
    {"torus", "n-dimensional torus", "torus:dims=4,4,4;hosts=1", make_torus},
    {"mesh", "n-dimensional mesh", "mesh:dims=8,8", make_mesh},
    {"hyperx", "grid with all switches of a row linked", "hyperx:dims=4,4;hosts=4", make_hyperx},
    {"dragonfly", "groups of fully linked switches", "dragonfly:switches=4;globals=2;hosts=2",
     make_dragonfly},
    {"slimfly", "diameter 2 from the McKay-Miller-Siran graph of a prime power", "slimfly:q=5",
     make_slim_fly},
};

}  // namespace

std::span<const SelectorRow> selectors() { return kSelectors; }
std::span<const SchedulerRow> schedulers() { return kSchedulers; }
std::span<const MapperRow> mappers() { return kMappers; }
std::span<const RouterRow> routers() { return kRouters; }
std::span<const TopologyRow> topologies() { return kTopologies; }

base::Result<const SelectorRow*> find_selector(std::string_view name) {
  return base::find_row(selectors(), "selection", name);
}
base::Result<const SchedulerRow*> find_scheduler(std::string_view name) {
  return base::find_row(schedulers(), "scheduler", name);
}
base::Result<const MapperRow*> find_mapper(std::string_view name) {
  return base::find_row(mappers(), "placement", name);
}
base::Result<const RouterRow*> find_router(std::string_view name) {
  return base::find_row(routers(), "routing", name);
}
base::Result<const TopologyRow*> find_topology(std::string_view name) {
  return base::find_row(topologies(), "topology", name);
}

}  // namespace fathom::simulator
