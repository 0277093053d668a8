// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/given.h"

#include "simulator/network/given_routes.h"

namespace fathom::simulator {
namespace {

class GivenRouter : public Router {
 public:
  explicit GivenRouter(const Network& network) : network_(network) {}

  base::Status route(std::span<const Demand> demands, const LinkUse&, RouteSink& sink) override {
    std::vector<LinkId> way;
    for (std::size_t index = 0; index < demands.size(); ++index) {
      const HostId source = demands[index].source, destination = demands[index].destination;
      way.clear();
      if (source != destination && !network_.given_routes()->append(source, destination, way)) {
        return base::Error{"'" + network_.name() + "' gives no route from '" +
                           network_.node_name(source) + "' to '" + network_.node_name(destination) +
                           "'; use --routing dmodk to find a path over its links"};
      }
      sink.take(index, way, 1);
    }
    return base::Done{};
  }

 private:
  const Network& network_;
};

}  // namespace

base::Result<std::unique_ptr<Router>> make_given(const Network& network, const RouterOptions&) {
  if (network.given_routes()) return std::unique_ptr<Router>(new GivenRouter(network));
  return base::Error{"'" + network.name() +
                     "' prescribes no routes for routing 'given' to follow; choose another "
                     "routing, or give a SimGrid platform"};
}

}  // namespace fathom::simulator
