// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/topology/grid.h"

#include <cstddef>

namespace fathom::simulator {
namespace {

std::string name_at(const Grid& grid, std::uint32_t index) {
  std::string name;
  for (std::size_t dimension = grid.extent.size(); dimension-- > 0;) {
    name = std::to_string(index % grid.extent[dimension]) + (name.empty() ? "" : "." + name);
    index /= grid.extent[dimension];
  }
  return "s" + name;
}

// Calls link(one, other) for every cable within a row of `extent` switches.
template <typename LinkTwo>
void for_each_cable(Grid::Kind kind, std::uint32_t extent, LinkTwo link) {
  for (std::uint32_t one = 0; one + 1 < extent; ++one) {
    const std::uint32_t end = kind == Grid::Kind::kHyperX ? extent : one + 2;
    for (std::uint32_t other = one + 1; other < end; ++other) link(one, other);
  }
  if (kind == Grid::Kind::kTorus && extent > 2) link(extent - 1, 0);
}

void link_dimension(const Grid& grid, std::size_t dimension,
                    const std::vector<std::uint32_t>& switches,
                    const TopologyParameters& parameters, NetworkBuilder& builder) {
  const std::uint32_t extent = grid.extent[dimension], stride = grid.stride[dimension];
  for (std::uint32_t first = 0; first < switches.size(); ++first) {
    if (first / stride % extent != 0) continue;  // not the first of its row
    for_each_cable(grid.kind, extent, [&](std::uint32_t one, std::uint32_t other) {
      builder.add_cable(switches[first + one * stride], switches[first + other * stride],
                        parameters.switch_capacity_Bps(dimension), parameters.latency_s());
    });
  }
}

base::Result<Network> make_grid(Grid::Kind kind, TopologyParameters& parameters) {
  const Grid grid = Grid::in_order(kind, parameters.list("dims"));
  const std::uint32_t hosts = parameters.count("hosts", 1);
  if (base::Status status = parameters.finish(); !status) return status.error();
  double points = 1, cables_by_point = hosts;
  for (const std::uint32_t extent : grid.extent) {
    points *= extent;
    cables_by_point += kind == Grid::Kind::kHyperX ? (extent - 1) / 2.0 : extent > 1 ? 1 : 0;
  }
  const double nodes = points * (1.0 + hosts);
  if (base::Status fits = parameters.check_size(nodes, points * cables_by_point); !fits)
    return fits.error();
  NetworkBuilder builder(parameters.specification());
  std::vector<std::uint32_t> switches;
  std::uint32_t host = 0;
  while ((switches.size() + 1) * (1.0 + hosts) <= nodes) {
    const auto index = static_cast<std::uint32_t>(switches.size());
    switches.push_back(builder.add_switch(name_at(grid, index)));
    for (std::uint32_t at = 0; at < hosts; ++at) {
      builder.add_cable(builder.add_host("n" + std::to_string(host++), parameters.slots()),
                        switches.back(), parameters.host_capacity_Bps(), parameters.latency_s());
    }
  }
  for (std::size_t dimension = 0; dimension < grid.extent.size(); ++dimension) {
    link_dimension(grid, dimension, switches, parameters, builder);
  }
  builder.set_grid(grid);
  return builder.build();
}

}  // namespace

base::Result<Network> make_mesh(TopologyParameters& parameters) {
  return make_grid(Grid::Kind::kMesh, parameters);
}
base::Result<Network> make_torus(TopologyParameters& parameters) {
  return make_grid(Grid::Kind::kTorus, parameters);
}
base::Result<Network> make_hyperx(TopologyParameters& parameters) {
  return make_grid(Grid::Kind::kHyperX, parameters);
}

}  // namespace fathom::simulator
