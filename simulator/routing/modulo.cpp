// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/modulo.h"

#include "simulator/routing/hop_by_hop.h"

namespace fathom::simulator {
namespace {

template <HostId Demand::*end>
class Digits {
 public:
  void start(const Demand& demand) { left_ = demand.*end; }
  std::uint32_t operator()(const Demand&, NodeId, std::uint32_t choices) {
    const std::uint32_t digit = left_ % choices;
    left_ /= choices;
    return digit;
  }

 private:
  std::uint32_t left_ = 0;  // the host's number without the digits already used
};

template <HostId Demand::*end>
class ModuloRouter : public Router {
 public:
  explicit ModuloRouter(const Network& network) : paths_(network, kOneTargetBytes) {}
  base::Status route(std::span<const Demand> demands, const LinkUse&, RouteSink& sink) override {
    return route_hop_by_hop(demands, paths_, Digits<end>(), sink);
  }

 private:
  ShortestPaths paths_;
};

}  // namespace

base::Result<std::unique_ptr<Router>> make_dmodk(const Network& network, const RouterOptions&) {
  return std::unique_ptr<Router>(new ModuloRouter<&Demand::destination>(network));
}

base::Result<std::unique_ptr<Router>> make_smodk(const Network& network, const RouterOptions&) {
  return std::unique_ptr<Router>(new ModuloRouter<&Demand::source>(network));
}

}  // namespace fathom::simulator
