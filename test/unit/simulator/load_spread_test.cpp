// SPDX-License-Identifier: BSD-3-Clause
// How evenly links share their load, and which are the worst.
#include "simulator/routing/load_spread.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "test/unit/simulator/networks.h"

namespace fathom::simulator {
namespace {

// A chain of 21 switches, host h0 at its first: 40 links between switches, 2 of the host. Link
// number i between switches carries i bytes; all have capacity 2.
struct Chain {
  Network network;
  std::vector<double> bytes;

  Chain() : network(make()), bytes(network.link_count(), 0) {
    double next = 0;
    for (LinkId id = 0; id < network.link_count(); ++id) {
      if (network.joins_switches(id)) bytes[id] = next++;
    }
  }

  static Network make() {
    NetworkBuilder builder("chain");
    std::uint32_t last = builder.add_switch("s0");
    builder.add_cable(builder.add_host("h0", 1), last, 2, 0);
    for (int at = 1; at <= 20; ++at) {
      const std::uint32_t next = builder.add_switch("s" + std::to_string(at));
      builder.add_cable(last, next, 2, 0);
      last = next;
    }
    auto network = builder.build();
    REQUIRE(network);
    return std::move(*network);
  }
};

TEST_CASE(
    "95 percent of the links have no more than the quantile, and imbalance is max over mean") {
  const Chain chain;
  const LoadSpread spread = load_spread(chain.network, chain.bytes, false);
  CHECK(spread.links == 40);
  CHECK(spread.unused == 1);
  CHECK(spread.max_congestion == 39 / 2.0);
  CHECK(spread.mean_congestion == doctest::Approx(39 / 4.0));
  CHECK(spread.imbalance == doctest::Approx(2));
  CHECK(spread.p95_congestion == 37 / 2.0);  // the 38th of 40, from below
}

TEST_CASE("a host's link is named as the worst of hosts even where it is not counted") {
  Chain chain;
  const LinkId to_switch = chain.network.links_from(0).front();
  chain.bytes[to_switch] = 100;
  const LoadSpread spread = load_spread(chain.network, chain.bytes, false);
  CHECK(spread.links == 40);
  CHECK(spread.max_congestion == 39 / 2.0);
  CHECK(spread.of_hosts.id == to_switch);
  CHECK(spread.of_hosts.congestion == 50);
  CHECK(chain.bytes[spread.between_switches.id] == 39);
  CHECK(spread.worst(false).id == spread.between_switches.id);
  CHECK(spread.worst(true).id == to_switch);
  CHECK(load_spread(chain.network, chain.bytes, true).max_congestion == 50);
}

TEST_CASE("a network without load has no worst link and no imbalance") {
  const Chain chain;
  const LoadSpread spread =
      load_spread(chain.network, std::vector<double>(chain.network.link_count(), 0), true);
  CHECK(spread.links == 42);
  CHECK(spread.unused == 42);
  CHECK(spread.imbalance == 0);
  CHECK(spread.p95_congestion == 0);
  CHECK(spread.worst(true).id == kNoId);
}

TEST_CASE("capacities below a megabyte per second are relative") {
  CHECK(has_relative_capacities(Chain().network));
  CHECK_FALSE(has_relative_capacities(test::network_of("torus:dims=2,2")));
  CHECK_FALSE(has_relative_capacities(test::network_of("torus:dims=2,2;capacity=1e6")));
}

}  // namespace
}  // namespace fathom::simulator
