// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/topology/registry.h"

#include "base/named_rows.h"
#include "simulator/topology/dragonfly.h"
#include "simulator/topology/grid.h"
#include "simulator/topology/slimfly.h"
#include "simulator/topology/tree.h"

namespace fathom::simulator {
namespace {

constexpr TopologyRow kTopologies[] = {
    {"xgft", "extended generalized fat tree: m children, w parents, by level",
     "xgft:m=4,4,3;w=1,2,2", make_xgft},
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

std::span<const TopologyRow> topologies() { return kTopologies; }

base::Result<const TopologyRow*> find_topology(std::string_view name) {
  return base::find_row(topologies(), "topology", name);
}

}  // namespace fathom::simulator
