// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/greedy.h"

#include "simulator/routing/best_way.h"
#include "simulator/routing/hop_by_hop.h"

namespace fathom::simulator {
namespace {

template <typename Combine>
class GreedyRouter : public Router {
 public:
  explicit GreedyRouter(const Network& network)
      : network_(network), paths_(network), costs_(network), best_(network) {}

  base::Status route(std::span<const Demand> demands, const LinkUse& background,
                     RouteSink& sink) override {
    costs_.start(background);
    std::vector<LinkId> way;
    for (const std::uint32_t index : order_by_weight(demands)) {
      const Demand& demand = demands[index];
      way.clear();
      if (!best_.append(demand.source, demand.destination, paths_, costs_, way)) {
        return no_way(network_, demand.source, demand.destination);
      }
      costs_.add(way, demand.bytes);
      sink.take(index, way, 1);
    }
    return base::Done{};
  }

 private:
  const Network& network_;
  ShortestPaths paths_;
  LinkCosts costs_;
  BestWay<Combine> best_;
};

}  // namespace

base::Result<std::unique_ptr<Router>> make_greedy_sum(const Network& network,
                                                      const RouterOptions&) {
  return std::unique_ptr<Router>(new GreedyRouter<SumOfCosts>(network));
}

base::Result<std::unique_ptr<Router>> make_greedy_max(const Network& network,
                                                      const RouterOptions&) {
  return std::unique_ptr<Router>(new GreedyRouter<LargestCost>(network));
}

}  // namespace fathom::simulator
