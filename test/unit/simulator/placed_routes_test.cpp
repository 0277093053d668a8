// SPDX-License-Identifier: BSD-3-Clause
// Flows and replay on routed networks: times that follow from link capacities by hand.
#include "simulator/placement/placed_routes.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "simulator/formats/cluster.h"
#include "simulator/routing/registry.h"

namespace fathom::simulator {
namespace {

// Four hosts on two leaf switches, which one spine joins; links of 1 GB/s and 1 µs, and half as
// fast between switches.
Network small_tree() {
  auto network = load_cluster("xgft:m=2,2;w=1,1;slots=2;capacity=1e9;latency=1e-6;taper=2");
  REQUIRE_MESSAGE(network.ok(), (network.ok() ? "" : network.error().message));
  return std::move(*network);
}

PlacedRoutes routes_of(const Network& network, const Job& job, const Placement& placement,
                       const std::string& router = "dmodk") {
  auto routes =
      PlacedRoutes::make(network, job, placement, **find_router(router), 1, LinkUse(network));
  REQUIRE_MESSAGE(routes.ok(), (routes.ok() ? "" : routes.error().message));
  return std::move(*routes);
}

TEST_CASE("a matrix sent as a phase takes the latency plus what shared links allow") {
  const Network network = small_tree();
  const Job job{
      "pairs", 4, {{0, 1, 1000000, 1}, {0, 2, 500000, 1}, {1, 3, 500000, 1}, {2, 2, 9, 1}}};
  const PlacedRoutes routes = routes_of(network, job, {0, 1, 2, 3});
  CHECK(routes.between(0, 1).size() == 2);
  CHECK(routes.between(0, 2).size() == 4);
  CHECK(routes.between(3, 3).empty());
  const std::vector<PhasedJob> jobs = {{0, {routes.phase(job, 0.5)}}};
  FlowModel flows = *FlowModel::create(link_speeds(network));
  const auto times = run_together(flows, jobs);
  REQUIRE(times.ok());
  // Both flows between leaves have 0.25 GB/s of the link up, 2 ms; then 0-1, which had 0.75 GB/s of
  // its host's link until it ended after 4/3 ms, is over already.
  CHECK((*times)[0].phases[0].end_s == doctest::Approx(0.5 + 4e-6 + 2e-3).epsilon(1e-6).scale(0));
}

TEST_CASE("ranks of one host have no links between them") {
  const Network network = small_tree();
  const Job job{"two hosts", 4, {{0, 1, 1000, 1}, {0, 2, 1000, 1}}};
  const PlacedRoutes routes = routes_of(network, job, {3, 3, 0, 0});
  CHECK(routes.between(0, 1).empty());
  CHECK(routes.between(2, 3).empty());
  CHECK(routes.between(0, 2).size() == 4);
  CHECK(network.link(routes.between(0, 2).front()).source == 3);
  CHECK(network.link(routes.between(0, 2).back()).target == 0);
}

TEST_CASE("replay uses LogGP inside a host and links between hosts") {
  const Network network = small_tree();
  const Job job{"", 3, {}};
  const PlacedRoutes routes = routes_of(network, job, {0, 0, 2});
  Program program(3);
  Script root(program, 0);
  root.send(1, 1001);
  root.send(2, 50000);
  Script(program, 1).receive(0, 1001);
  Script(program, 2).receive(0, 50000);
  FlowModel flows = *FlowModel::create(link_speeds(network));
  const ReplayNetwork on_links = routes.replay_network(flows);
  const auto result =
      replay(program, {.L = 500, .o = 100, .g = 0, .G = 0.1, .O = 0, .S_bytes = 1e9}, &on_links);
  REQUIRE(result.ok());
  CHECK(result->ranks[1].end_ns == doctest::Approx(100 + 500 + 100 + 100));
  // Issued at 200; the interface is free then (100 ns for 1,001 bytes); 4 µs, and 100 µs at 0.5
  // GB/s.
  CHECK(result->ranks[2].end_ns == doctest::Approx(200 + 4000 + 100000 + 100));
}

TEST_CASE("an all-to-all over every shortest-path router is limited by the links between leaves") {
  const Network network = small_tree();
  Job job{"all", 8, {}};
  Placement placement;
  for (std::int64_t from = 0; from < 8; ++from) {
    placement.push_back(static_cast<HostId>(from / 2));
    for (std::int64_t to = 0; to < 8; ++to) job.pairs.push_back({from, to, 1000, 1});
  }
  int served = 0;
  for (const RouterRow& router : routers()) {
    CAPTURE(router.name);
    const auto routes = PlacedRoutes::make(network, job, placement, router, 1, LinkUse(network));
    if (!routes) continue;  // not for this kind of network
    const std::string name = router.name;
    if (name == "valiant" || name == "ugal") continue;  // detours
    ++served;
    const std::vector<PhasedJob> jobs = {{0, {routes->phase(job, 0)}}};
    FlowModel flows = *FlowModel::create(link_speeds(network));
    const auto times = run_together(flows, jobs);
    REQUIRE(times.ok());
    // Each leaf sends 4 x 4 messages of 1,000 bytes over its link up of 0.5 GB/s.
    CHECK((*times)[0].end_s == doctest::Approx(4e-6 + 16000 / 0.5e9).epsilon(1e-6).scale(0));
  }
  CHECK(served >= 2);
}

}  // namespace
}  // namespace fathom::simulator
