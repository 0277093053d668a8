// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/placement/registry.h"

#include "base/named_rows.h"
#include "simulator/placement/mappers.h"
#include "simulator/placement/near_selectors.h"
#include "simulator/placement/recursive_bisection.h"
#include "simulator/placement/search.h"
#include "simulator/placement/selectors.h"
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

constexpr MapperRow kMappers[] = {
    {"block", "fill one host after the other", map_block},
    {"cyclic", "deal processes out one to each host in turn", map_cyclic},
    {"random", "block over the hosts in random order", map_random},
    {"bisection", "halves ranks and hosts again and again, so that little goes between the halves",
     map_bisection},
    {"treematch", "groups ranks that send each other most, up the tree of hosts and switches",
     map_treematch},
    {"search", "the best of these by hop-bytes, then swaps as long as that pays", map_search},
};

}  // namespace

std::span<const SelectorRow> selectors() { return kSelectors; }

base::Result<const SelectorRow*> find_selector(std::string_view name) {
  return base::find_row(selectors(), "selection", name);
}

std::span<const MapperRow> mappers() { return kMappers; }

base::Result<const MapperRow*> find_mapper(std::string_view name) {
  return base::find_row(mappers(), "placement", name);
}

}  // namespace fathom::simulator
