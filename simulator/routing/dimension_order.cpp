// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/dimension_order.h"

#include <algorithm>
#include <cstddef>

#include "simulator/routing/hop_by_hop.h"

namespace fathom::simulator {
namespace {

class DimensionRouter : public Router {
 public:
  explicit DimensionRouter(const Network& network)
      : network_(network), grid_(*network.grid()), access_(network.host_count()) {
    first_ = network.node_count() - grid_.points();
    for (HostId host = 0; host < network.host_count(); ++host) find_access(host);
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
  struct Access {
    std::uint32_t point = kNoId;
    std::vector<LinkId> up, down;
  };

  // Two links per switch and dimension, upwards and downwards; kNoId if missing. Looked up once,
  // because otherwise every hop of every demand would search the links of a switch.
  void find_neighbours() {
    const std::size_t dimensions = grid_.stride.size();
    neighbours_.assign(grid_.points() * dimensions * 2, kNoId);
    for (std::uint32_t at = 0; at < grid_.points(); ++at) {
      for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
        for (const bool upwards : {true, false}) {
          const std::uint32_t next = step(at, dimension, upwards);
          if (next == at) continue;
          neighbours_[(at * dimensions + dimension) * 2 + upwards] =
              network_.find_link(node_of(at), node_of(next));
        }
      }
    }
  }

  // The number of the next switch. Wraps around also on a mesh, which has no such link.
  std::uint32_t step(std::uint32_t at, std::size_t dimension, bool upwards) const {
    const std::uint32_t extent = grid_.extent[dimension], stride = grid_.stride[dimension];
    const std::uint32_t from = at / stride % extent;
    if (upwards) return from + 1 < extent ? at + stride : at - from * stride;
    return from > 0 ? at - stride : at + (extent - 1) * stride;
  }

  NodeId node_of(std::uint32_t point) const { return first_ + point; }

  // The nearest switch of the grid, and the links to it and from it, past the inside of the host's
  // machine.
  void find_access(HostId host) {
    const auto up = nearest(
        host, [this](NodeId node) { return network_.links_from(node); }, &Link::target);
    auto down = nearest(
        host, [this](NodeId node) { return network_.links_to(node); }, &Link::source);
    std::reverse(down.begin(), down.end());
    if (!up.empty() && !down.empty())
      access_[host] = {network_.link(up.back()).target - first_, up, down};
  }

  // Breadth-first search from a host to a switch of the grid; empty if there is none.
  template <typename LinksOf>
  std::vector<LinkId> nearest(HostId host, LinksOf links_of, NodeId Link::*far_end) const {
    struct Step {
      NodeId node;
      LinkId link;
      std::size_t before;
    };
    std::vector<Step> steps = {{host, kNoId, 0}};
    for (std::size_t at = 0; at < steps.size(); ++at) {
      if (at > 0 && network_.is_host(steps[at].node)) continue;
      for (const LinkId link : links_of(steps[at].node)) {
        const NodeId next = network_.link(link).*far_end;
        const auto is_next = [next](const Step& step) { return step.node == next; };
        if (std::any_of(steps.begin(), steps.end(), is_next)) continue;
        steps.push_back({next, link, at});
        if (next < first_) continue;
        std::vector<LinkId> way;
        for (std::size_t back = steps.size() - 1; back > 0; back = steps[back].before)
          way.push_back(steps[back].link);
        std::reverse(way.begin(), way.end());
        return way;
      }
    }
    return {};
  }

  bool find_way(const Demand& demand, std::vector<LinkId>& way) const {
    const Access &from = access_[demand.source], &to = access_[demand.destination];
    if (from.point == kNoId || to.point == kNoId) return false;
    if (from.point == to.point) return turn_round(from, to, way);
    way = from.up;
    std::uint32_t at = from.point;
    for (std::size_t dimension = 0; dimension < grid_.stride.size() && at != to.point;
         ++dimension) {
      const bool found = neighbours_.empty() ? jump(dimension, to.point, at, way)
                                             : walk(dimension, to.point, at, way);
      if (!found) return false;
    }
    way.insert(way.end(), to.down.begin(), to.down.end());
    return true;
  }

  // Two hosts of one switch: up to the node where their paths meet, which may be inside their
  // machine, and down again.
  bool turn_round(const Access& from, const Access& to, std::vector<LinkId>& way) const {
    for (const LinkId up : from.up) {
      way.push_back(up);
      const auto begins_here = [&](LinkId down) {
        return network_.link(down).source == network_.link(up).target;
      };
      const auto down = std::find_if(to.down.begin(), to.down.end(), begins_here);
      if (down == to.down.end()) continue;
      way.insert(way.end(), down, to.down.end());
      return true;
    }
    return false;
  }

  // One dimension of a HyperX: a single link.
  bool jump(std::size_t dimension, std::uint32_t target, std::uint32_t& at,
            std::vector<LinkId>& way) const {
    const std::uint32_t extent = grid_.extent[dimension], stride = grid_.stride[dimension];
    const std::uint32_t from = at / stride % extent, to = target / stride % extent;
    if (from == to) return true;
    const std::uint32_t next = at - from * stride + to * stride;
    const LinkId link = network_.find_link(node_of(at), node_of(next));
    if (link == kNoId) return false;
    way.push_back(link);
    at = next;
    return true;
  }

  // The direction on a torus.
  bool goes_up(std::uint32_t up_steps, std::uint32_t extent, std::uint32_t to) const {
    if (up_steps * 2 == extent && to == 0) return !grid_.half_way_to_0_is_down;
    return up_steps * 2 <= extent;
  }

  // One dimension of a mesh or torus, neighbour by neighbour.
  bool walk(std::size_t dimension, std::uint32_t target, std::uint32_t& at,
            std::vector<LinkId>& way) const {
    const std::uint32_t extent = grid_.extent[dimension], stride = grid_.stride[dimension];
    const std::uint32_t from = at / stride % extent, to = target / stride % extent;
    const std::uint32_t up_steps = to >= from ? to - from : to + extent - from;
    const bool upwards =
        grid_.kind == Grid::Kind::kMesh ? to > from : goes_up(up_steps, extent, to);
    std::uint32_t left = upwards ? up_steps : (up_steps == 0 ? 0 : extent - up_steps);
    if (grid_.kind == Grid::Kind::kMesh && !upwards) left = from - to;
    for (; left > 0; --left) {
      const LinkId link = neighbours_[(at * grid_.stride.size() + dimension) * 2 + upwards];
      if (link == kNoId) return false;
      way.push_back(link);
      at = step(at, dimension, upwards);
    }
    return true;
  }

  const Network& network_;
  const Grid& grid_;
  NodeId first_ = 0;                // first switch of the grid; those inside machines come before
  std::vector<Access> access_;      // by host
  std::vector<LinkId> neighbours_;  // empty for a HyperX
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
