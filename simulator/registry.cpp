#include "simulator/registry.h"

#include "simulator/mappers.h"
#include "simulator/route_greedy.h"
#include "simulator/route_modulo.h"
#include "simulator/selectors.h"

namespace fathom::simulator {
namespace {

constexpr SelectorRow kSelectors[] = {
    {"linear", "best fit among runs of consecutive free hosts", select_linear},
    {"random", "hosts drawn without replacement", select_random},
};

constexpr MapperRow kMappers[] = {
    {"block", "fill one host after the other", map_block},
    {"cyclic", "deal processes out one to each host in turn", map_cyclic},
    {"random", "block over the hosts in random order", map_random},
};

constexpr RouterRow kRouters[] = {
    {"dmodk", "shortest ways, chosen by the destination's number", false, make_dmodk},
    {"smodk", "shortest ways, chosen by the source's number", false, make_smodk},
    {"greedy-sum", "heaviest first, each the shortest way with the least total load", false,
     make_greedy_sum},
    {"greedy-max", "heaviest first, each the shortest way with the least loaded worst link", false,
     make_greedy_max},
};

template <typename Row>
base::Result<const Row*> find(std::span<const Row> rows, const char* what, std::string_view name) {
  std::string names;
  for (const Row& row : rows) {
    if (name == row.name) return &row;
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return base::Error{std::string("there is no ") + what + " '" + std::string(name) +
                     "'; there are " + names};
}

}  // namespace

std::span<const SelectorRow> selectors() { return kSelectors; }
std::span<const MapperRow> mappers() { return kMappers; }
std::span<const RouterRow> routers() { return kRouters; }

base::Result<const SelectorRow*> find_selector(std::string_view name) {
  return find(selectors(), "selection", name);
}
base::Result<const MapperRow*> find_mapper(std::string_view name) {
  return find(mappers(), "placement", name);
}
base::Result<const RouterRow*> find_router(std::string_view name) {
  return find(routers(), "routing", name);
}

}  // namespace fathom::simulator
