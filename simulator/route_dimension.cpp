#include "simulator/route_dimension.h"

#include <cstddef>

#include "simulator/hop_by_hop.h"

namespace fathom::simulator {
namespace {

class DimensionRouter : public Router {
 public:
  explicit DimensionRouter(const Network& network)
      : network_(network), grid_(*network.grid()), strides_(grid_.extent.size(), 1) {
    for (std::size_t dimension = strides_.size(); dimension-- > 1;) {
      strides_[dimension - 1] = strides_[dimension] * grid_.extent[dimension];
    }
    if (grid_.kind != Grid::Kind::kHyperX) find_neighbours();
  }

  base::Status route(std::span<const Demand> demands, const LinkUse&, RouteSink& sink) override {
    std::vector<LinkId> way;
    for (std::size_t index = 0; index < demands.size(); ++index) {
      const Demand& demand = demands[index];
      way.clear();
      if (demand.source != demand.destination && !find_way(demand, way)) {
        return base::Error{no_way(network_, demand.source, demand.destination).message +
                           ", or take a routing that goes around failed links"};
      }
      sink.take(index, way, 1);
    }
    return base::Done{};
  }

 private:
  // Two links for each switch and dimension: upwards and downwards; kNoId where there is none.
  void find_neighbours() {
    const std::size_t dimensions = strides_.size();
    neighbours_.assign(network_.switch_count() * dimensions * 2, kNoId);
    for (std::uint32_t at = 0; at < network_.switch_count(); ++at) {
      for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
        for (const bool upwards : {true, false}) {
          const std::uint32_t next = step(at, dimension, upwards);
          if (next == at || next >= network_.switch_count()) continue;
          neighbours_[(at * dimensions + dimension) * 2 + upwards] =
              network_.find_link(network_.host_count() + at, network_.host_count() + next);
        }
      }
    }
  }

  // The number of the next switch, wrapped around also on a mesh, which has no such link.
  std::uint32_t step(std::uint32_t at, std::size_t dimension, bool upwards) const {
    const std::uint32_t extent = grid_.extent[dimension], stride = strides_[dimension];
    const std::uint32_t from = at / stride % extent;
    if (upwards) return from + 1 < extent ? at + stride : at - from * stride;
    return from > 0 ? at - stride : at + (extent - 1) * stride;
  }

  bool find_way(const Demand& demand, std::vector<LinkId>& way) const {
    const auto up = network_.links_from(demand.source), down = network_.links_to(demand.destination);
    if (up.empty() || down.empty()) return false;
    way.push_back(up.front());
    std::uint32_t at = network_.link(up.front()).target - network_.host_count();
    const std::uint32_t target = network_.link(down.front()).source - network_.host_count();
    for (std::size_t dimension = 0; dimension < strides_.size() && at != target; ++dimension) {
      const bool found = neighbours_.empty() ? jump(dimension, target, at, way)
                                             : walk(dimension, target, at, way);
      if (!found) return false;
    }
    way.push_back(down.front());
    return true;
  }

  // Along one dimension of a HyperX: one link.
  bool jump(std::size_t dimension, std::uint32_t target, std::uint32_t& at,
            std::vector<LinkId>& way) const {
    const std::uint32_t extent = grid_.extent[dimension], stride = strides_[dimension];
    const std::uint32_t from = at / stride % extent, to = target / stride % extent;
    if (from == to) return true;
    const std::uint32_t next = at - from * stride + to * stride;
    const LinkId link = network_.find_link(network_.host_count() + at, network_.host_count() + next);
    if (link == kNoId) return false;
    way.push_back(link);
    at = next;
    return true;
  }

  // Along one dimension of a mesh or torus, neighbour by neighbour.
  bool walk(std::size_t dimension, std::uint32_t target, std::uint32_t& at,
            std::vector<LinkId>& way) const {
    const std::uint32_t extent = grid_.extent[dimension], stride = strides_[dimension];
    const std::uint32_t from = at / stride % extent, to = target / stride % extent;
    const std::uint32_t up_steps = to >= from ? to - from : to + extent - from;
    const bool upwards = grid_.kind == Grid::Kind::kMesh ? to > from : up_steps * 2 <= extent;
    std::uint32_t left = upwards ? up_steps : (up_steps == 0 ? 0 : extent - up_steps);
    if (grid_.kind == Grid::Kind::kMesh && !upwards) left = from - to;
    for (; left > 0; --left) {
      const LinkId link = neighbours_[(at * strides_.size() + dimension) * 2 + upwards];
      if (link == kNoId) return false;
      way.push_back(link);
      at = step(at, dimension, upwards);
    }
    return true;
  }

  const Network& network_;
  const Grid& grid_;
  std::vector<std::uint32_t> strides_;  // by dimension
  std::vector<LinkId> neighbours_;      // empty for a HyperX
};

}  // namespace

base::Result<std::unique_ptr<Router>> make_dimension_order(const Network& network,
                                                           const RouterOptions&) {
  if (!network.grid()) {
    return base::Error{"routing 'dor' needs a torus, a mesh or a HyperX, and '" + network.name() +
                       "' is not known to be one"};
  }
  return std::unique_ptr<Router>(new DimensionRouter(network));
}

}  // namespace fathom::simulator
