// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/registry.h"

#include "base/named_rows.h"
#include "simulator/placement/near_selectors.h"
#include "simulator/placement/recursive_bisection.h"
#include "simulator/placement/search.h"
#include "simulator/placement/selectors.h"
#include "simulator/placement/simple_placements.h"
#include "simulator/placement/treematch.h"

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

constexpr PlacementRow kPlacements[] = {
    {"block", "fill one host after the other", place_block},
    {"cyclic", "give one process to each host in turn", place_cyclic},
    {"random", "block over the hosts in random order", place_random},
    {"bisection", "halve ranks and hosts repeatedly, with little traffic between the halves",
     place_bisection},
    {"treematch", "group the ranks that exchange most, up the tree of hosts and switches",
     place_treematch},
    {"search", "the least hop-bytes that annealing finds, from the best of several starts",
     place_search},
};

}  // namespace

std::span<const SelectorRow> selectors() { return kSelectors; }

base::Result<const SelectorRow*> find_selector(std::string_view name) {
  return base::find_row(selectors(), "selection", name);
}

std::span<const PlacementRow> placements() { return kPlacements; }

base::Result<const PlacementRow*> find_placement(std::string_view name) {
  return base::find_row(placements(), "placement", name);
}

}  // namespace fathom::simulator
