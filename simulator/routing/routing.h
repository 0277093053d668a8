// SPDX-License-Identifier: BSD-3-Clause
// What every routing algorithm has in common. How to add one: docs/adding-a-simulator-part.md.
//
// A Demand is what one host sends to another, summed over their processes. A Router chooses the
// path of each demand through the network and passes it to a RouteSink. The sink decides what to do
// with the paths (loads of links, shares of bandwidth, forwarding tables).
//
// A router belongs to one network, which must outlive it. It caches what it computes about the
// network, so routing a second time is faster. Threading: one router, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "simulator/network/network.h"

namespace fathom::simulator {

struct Demand {
  HostId source = 0;
  HostId destination = 0;   // may equal the source; the demand then uses no link
  double bytes = 0;         // integer, exact up to 2^53
  std::uint32_t flows = 1;  // number of pairs of processes
  std::uint32_t key = 0;    // distinguishes flows between the same hosts
};

// The load of each link: bytes and number of flows, host links included.
struct LinkUse {
  explicit LinkUse(const Network& network)
      : bytes(network.link_count(), 0.0), flows(network.link_count(), 0.0) {}

  std::vector<double> bytes;  // by link
  std::vector<double> flows;  // by link; integers unless a router splits flows
};

class RouteSink {
 public:
  virtual ~RouteSink() = default;
  // The path of demands[index]: the links from its source to its destination in order, none if both
  // are the same host. `share` is the part of the demand that takes this path. It is 1 unless the
  // router splits demands; then the shares of one demand add up to 1 over several calls.
  virtual void take(std::size_t index, std::span<const LinkId> links, double share) = 0;
};

class Router {
 public:
  virtual ~Router() = default;

  // Passes the path of every demand to `sink`, in an order chosen by the router. `background` is
  // the load of other jobs on the links; load-aware routers start from it, others ignore it. The
  // Error names the two hosts of a demand that has no path.
  virtual base::Status route(std::span<const Demand> demands, const LinkUse& background,
                             RouteSink& sink) = 0;

  // A lower bound on the congestion (bytes over capacity) of any routing of the demands last
  // routed, not counting links of hosts that leave no choice; 0 if this router knows none.
  virtual double congestion_bound() const { return 0; }
};

struct RouterOptions {
  std::uint64_t seed = 1;  // the same seed gives the same paths
};

// A row of the registry in routing/registry.h.
struct RouterRow {
  const char* name;  // as in `fathom simulate --routing NAME`
  const char* help;  // one line
  // Whether flows of different processes between the same hosts may take different paths. If so,
  // use one demand per pair of processes.
  bool per_flow;
  // An Error if the algorithm does not support this network.
  base::Result<std::unique_ptr<Router>> (*make)(const Network& network,
                                                const RouterOptions& options);
};

// A sink that keeps all paths so that they can be used more than once. Only for routers that do not
// split.
class RouteTable : public RouteSink {
 public:
  explicit RouteTable(std::size_t demands) : ways_(demands) {}

  void take(std::size_t index, std::span<const LinkId> links, double share) override;
  std::span<const LinkId> way(std::size_t index) const {
    return {links_.data() + ways_[index].first, ways_[index].count};
  }

 private:
  struct Way {
    std::size_t first = 0;
    std::uint32_t count = 0;
  };
  std::vector<Way> ways_;  // by demand
  std::vector<LinkId> links_;
};

// A sink that adds up the load of each link.
class UseSum : public RouteSink {
 public:
  UseSum(std::span<const Demand> demands, LinkUse& use) : demands_(demands), use_(use) {}

  void take(std::size_t index, std::span<const LinkId> links, double share) override;

 private:
  std::span<const Demand> demands_;
  LinkUse& use_;
};

}  // namespace fathom::simulator
