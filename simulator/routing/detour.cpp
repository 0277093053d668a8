// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/detour.h"

#include <limits>

#include "base/random.h"
#include "simulator/routing/hop_by_hop.h"
#include "simulator/routing/link_costs.h"

namespace fathom::simulator {
namespace {

constexpr int kCandidates = 4;

// Paths of one demand, drawn with numbers that depend only on the demand and the seed.
class Detours {
 public:
  Detours(const Network& network, std::uint64_t seed)
      : network_(network), paths_(network), seed_(base::splitmix64(seed)), choose_(random_) {}

  void start(const Demand& demand) {
    random_ =
        base::Random(base::splitmix64(std::uint64_t{demand.source} << 32 | demand.destination) ^
                     base::splitmix64(seed_ + demand.key));
  }

  // A shortest path. False if there is none.
  bool draw_shortest(const Demand& demand, std::vector<LinkId>& way) {
    way.clear();
    return append_rest(demand, demand.source, way);
  }

  // A path over a drawn switch; a shortest path if that switch cannot be reached or left.
  bool draw_detour(const Demand& demand, std::vector<LinkId>& way) {
    way.clear();
    const NodeId first = network_.first_forwarder();
    const NodeId over = first + static_cast<NodeId>(random_.below(network_.node_count() - first));
    const NodeId target = paths_.target_of(demand.destination);
    if (paths_.toward(over).distance(demand.source) == ShortestPaths::kUnreachable ||
        paths_.toward(target).distance(over) == ShortestPaths::kUnreachable) {
      return draw_shortest(demand, way);
    }
    append_way(demand, demand.source, paths_.toward(over), network_, choose_, way);
    return append_rest(demand, over, way);
  }

 private:
  struct Choose {
    explicit Choose(base::Random& random) : random(random) {}
    std::uint32_t operator()(const Demand&, NodeId, std::uint32_t choices) {
      return base::scaled(random.next(), choices);
    }
    base::Random& random;
  };

  bool append_rest(const Demand& demand, NodeId from, std::vector<LinkId>& way) {
    if (from == demand.destination) return true;
    ShortestPaths::Toward& toward = paths_.toward(paths_.target_of(demand.destination));
    if (!append_way(demand, from, toward, network_, choose_, way)) return false;
    append_last_hop(demand, toward.target(), network_, choose_, way);
    return true;
  }

  const Network& network_;
  ShortestPaths paths_;
  std::uint64_t seed_;
  base::Random random_{0};
  Choose choose_;
};

class ValiantRouter : public Router {
 public:
  ValiantRouter(const Network& network, std::uint64_t seed)
      : network_(network), detours_(network, seed) {}

  base::Status route(std::span<const Demand> demands, const LinkUse&, RouteSink& sink) override {
    std::vector<LinkId> way;
    for (std::size_t index = 0; index < demands.size(); ++index) {
      const Demand& demand = demands[index];
      way.clear();
      detours_.start(demand);
      if (demand.source != demand.destination && !detours_.draw_detour(demand, way)) {
        return no_way(network_, demand.source, demand.destination);
      }
      sink.take(index, way, 1);
    }
    return base::Done{};
  }

 private:
  const Network& network_;
  Detours detours_;
};

class UgalRouter : public Router {
 public:
  UgalRouter(const Network& network, std::uint64_t seed)
      : network_(network), detours_(network, seed), costs_(network) {}

  base::Status route(std::span<const Demand> demands, const LinkUse& background,
                     RouteSink& sink) override {
    costs_.start(background);
    for (const std::uint32_t index : order_by_weight(demands)) {
      const Demand& demand = demands[index];
      best_.clear();
      if (demand.source != demand.destination && !choose(demand)) {
        return no_way(network_, demand.source, demand.destination);
      }
      costs_.add(best_, demand.bytes);
      sink.take(index, best_, 1);
    }
    return base::Done{};
  }

 private:
  bool choose(const Demand& demand) {
    detours_.start(demand);
    double least = std::numeric_limits<double>::infinity();
    for (int candidate = 0; candidate < 2 * kCandidates; ++candidate) {
      const bool found = candidate < kCandidates ? detours_.draw_shortest(demand, way_)
                                                 : detours_.draw_detour(demand, way_);
      if (!found) return false;
      double cost = 0;
      for (const LinkId link : way_) cost += costs_.of(link);
      if (cost >= least) continue;
      least = cost;
      best_.swap(way_);
    }
    return true;
  }

  const Network& network_;
  Detours detours_;
  LinkCosts costs_;
  std::vector<LinkId> way_, best_;
};

}  // namespace

base::Result<std::unique_ptr<Router>> make_valiant(const Network& network,
                                                   const RouterOptions& options) {
  return std::unique_ptr<Router>(new ValiantRouter(network, options.seed));
}

base::Result<std::unique_ptr<Router>> make_ugal(const Network& network,
                                                const RouterOptions& options) {
  return std::unique_ptr<Router>(new UgalRouter(network, options.seed));
}

}  // namespace fathom::simulator
