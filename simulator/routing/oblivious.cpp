// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/routing/oblivious.h"

#include "base/random.h"
#include "simulator/routing/hop_by_hop.h"

namespace fathom::simulator {
namespace {

struct First {
  explicit First(std::uint64_t) {}
  void start(const Demand&) {}
  std::uint32_t operator()(const Demand&, NodeId, std::uint32_t) { return 0; }
};

std::uint64_t hosts_of(const Demand& demand) {
  return std::uint64_t{demand.source} << 32 | demand.destination;
}

class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : seed_(base::splitmix64(seed)), random_(0) {}
  // Seeded by the demand alone, so that its path does not depend on the order of routing.
  void start(const Demand& demand) {
    random_ =
        base::Random(base::splitmix64(hosts_of(demand)) ^ base::splitmix64(seed_ + demand.key));
  }
  std::uint32_t operator()(const Demand&, NodeId, std::uint32_t choices) {
    return base::scaled(random_.next(), choices);
  }

 private:
  std::uint64_t seed_;
  base::Random random_;
};

class Hashed {
 public:
  explicit Hashed(std::uint64_t seed) : seed_(base::splitmix64(seed)) {}
  void start(const Demand& demand) {
    flow_ = base::splitmix64(base::splitmix64(hosts_of(demand)) + demand.key);
  }
  std::uint32_t operator()(const Demand&, NodeId at, std::uint32_t choices) {
    return base::scaled(base::splitmix64(flow_ ^ base::splitmix64(seed_ + at)), choices);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t flow_ = 0;
};

template <typename Choose>
class ObliviousRouter : public Router {
 public:
  ObliviousRouter(const Network& network, std::uint64_t seed)
      : paths_(network, kOneTargetBytes), choose_(seed) {}
  base::Status route(std::span<const Demand> demands, const LinkUse&, RouteSink& sink) override {
    return route_hop_by_hop(demands, paths_, choose_, sink);
  }

 private:
  ShortestPaths paths_;
  Choose choose_;
};

template <typename Choose>
base::Result<std::unique_ptr<Router>> make(const Network& network, const RouterOptions& options) {
  return std::unique_ptr<Router>(new ObliviousRouter<Choose>(network, options.seed));
}

}  // namespace

base::Result<std::unique_ptr<Router>> make_minimal(const Network& network,
                                                   const RouterOptions& options) {
  return make<First>(network, options);
}
base::Result<std::unique_ptr<Router>> make_random(const Network& network,
                                                  const RouterOptions& options) {
  return make<Drawn>(network, options);
}
base::Result<std::unique_ptr<Router>> make_ecmp(const Network& network,
                                                const RouterOptions& options) {
  return make<Hashed>(network, options);
}

}  // namespace fathom::simulator
