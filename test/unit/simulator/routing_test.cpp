// SPDX-License-Identifier: BSD-3-Clause
// Every router on every kind of network: routes are complete, shortest where promised, and follow
// their rules.
#include "simulator/routing/routing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "simulator/formats/cluster.h"
#include "simulator/network/shortest_paths.h"
#include "simulator/routing/link_load.h"
#include "simulator/routing/registry.h"
#include "test/unit/simulator/networks.h"

namespace fathom::simulator {
namespace {

std::vector<Demand> all_pairs(const Network& network) {
  std::vector<Demand> demands;
  for (HostId source = 0; source < network.host_count(); ++source) {
    for (HostId destination = 0; destination < network.host_count(); ++destination) {
      demands.push_back({source, destination, 1.0 + (source * 7 + destination * 3) % 5, 1, 0});
    }
  }
  return demands;
}

RouteTable routed(const Network& network, const std::string& name,
                  const std::vector<Demand>& demands, std::uint64_t seed = 1) {
  auto router = (*find_router(name))->make(network, {seed});
  REQUIRE_MESSAGE(router, router.error().message);
  RouteTable table(demands.size());
  const auto status = (*router)->route(demands, LinkUse(network), table);
  REQUIRE_MESSAGE(status, status.error().message);
  return table;
}

// The links follow each other from the source to the destination.
bool is_whole(const Network& network, const Demand& demand, std::span<const LinkId> way) {
  NodeId at = demand.source;
  for (const LinkId link : way) {
    if (network.link(link).source != at) return false;
    at = network.link(link).target;
    if (at != demand.destination && !network.forwards(at)) return false;
  }
  return at == demand.destination;
}

std::size_t distance(ShortestPaths& paths, HostId source, HostId destination) {
  if (source == destination) return 0;
  const NodeId target = paths.target_of(destination);
  return paths.toward(target).distance(source) + (target == destination ? 0u : 1u);
}

constexpr const char* kNetworks[] = {"xgft:m=3,2,2;w=1,2,3",
                                     "xgft:m=2,3;w=2,2",
                                     "leafspine:leaves=3;spines=2;hosts=2",
                                     "torus:dims=3,4;hosts=2",
                                     "mesh:dims=2,3,2",
                                     "hyperx:dims=3,3;hosts=2",
                                     "dragonfly:switches=3;globals=1;hosts=2",
                                     "slimfly:q=3;hosts=1"};

TEST_CASE("every route is complete, and shortest where that is promised") {
  for (const std::string specification : kNetworks) {
    const Network network = test::network_of(specification);
    const std::vector<Demand> demands = all_pairs(network);
    ShortestPaths paths(network);
    for (const std::string name : {"dmodk", "smodk", "minimal", "random", "ecmp", "valiant", "ugal",
                                   "dor", "greedy-sum", "greedy-max"}) {
      if (name == "dor" && !network.grid()) continue;
      CAPTURE(specification);
      CAPTURE(name);
      const RouteTable table = routed(network, name, demands);
      const bool may_detour = name == "valiant" || name == "ugal";
      bool whole = true, shortest = true;
      for (std::size_t index = 0; index < demands.size(); ++index) {
        const Demand& demand = demands[index];
        whole = whole && is_whole(network, demand, table.way(index));
        shortest = shortest &&
                   table.way(index).size() == distance(paths, demand.source, demand.destination);
      }
      CHECK(whole);
      CHECK((shortest || may_detour));
    }
  }
}

TEST_CASE("D-mod-K on an XGFT: at level l, parent floor(d / (w_1 … w_l)) mod w_(l+1)") {
  const std::vector<std::uint32_t> m = {3, 2, 2}, w = {1, 2, 3};
  const Network network = test::network_of("xgft:m=3,2,2;w=1,2,3");
  const std::vector<Demand> demands = all_pairs(network);
  const RouteTable table = routed(network, "dmodk", demands);
  const RouteTable by_source = routed(network, "smodk", demands);
  const auto parent_taken = [&](std::span<const LinkId> way, std::size_t level) {
    // Switch s<l+1>.<index> has its digit of position l+1 above the digits w_1…w_l.
    const std::string& name = network.node_name(network.link(way[level]).target);
    std::uint32_t index = static_cast<std::uint32_t>(std::stoul(name.substr(name.find('.') + 1)));
    for (std::size_t below = 0; below < level; ++below) index /= w[below];
    return index % w[level];
  };
  for (std::size_t index = 0; index < demands.size(); ++index) {
    const auto way = table.way(index);
    std::uint32_t digits = demands[index].destination, source_digits = demands[index].source;
    for (std::size_t level = 0; level < way.size() / 2; ++level) {
      CHECK(parent_taken(way, level) == digits % w[level]);
      CHECK(parent_taken(by_source.way(index), level) == source_digits % w[level]);
      digits /= w[level];
      source_digits /= w[level];
    }
  }
}

TEST_CASE(
    "D-mod-K loads every link of a full fat tree equally in an all-to-all and uses all roots") {
  const Network network = test::network_of("tree:k=3;n=3");
  auto router = (*find_router("dmodk"))->make(network, {});
  REQUIRE(router);
  std::vector<Demand> demands = all_pairs(network);
  for (Demand& demand : demands) demand.bytes = 1;
  const auto use = link_load(network, **router, demands, LinkUse(network));
  REQUIRE(use);
  std::map<std::string, std::set<double>> loads;  // by the levels that a link joins
  for (LinkId link = 0; link < network.link_count(); ++link) {
    if (!network.joins_switches(link)) continue;
    loads[network.node_name(network.link(link).source).substr(0, 2) +
          network.node_name(network.link(link).target).substr(0, 2)]
        .insert(use->bytes[link]);
  }
  CHECK(loads.size() == 4);
  for (const auto& [levels, values] : loads) {
    const std::string shown = levels;  // clang 14 captures no structured binding
    CAPTURE(shown);
    CHECK(values.size() == 1);
  }
}

TEST_CASE("dimension order takes the first coordinate first and the shorter direction") {
  const Network network = test::network_of("torus:dims=5,4");
  const auto names = [&](HostId source, HostId destination) {
    const std::vector<Demand> demands = {{source, destination, 1, 1, 0}};
    const RouteTable table = routed(network, "dor", demands);
    std::string text;
    for (const LinkId link : table.way(0))
      text += network.node_name(network.link(link).target) + " ";
    return text;
  };
  CHECK(names(0, 4 * 4 + 1) == "s0.0 s4.0 s4.1 n17 ");
  CHECK(names(0, 2 * 4 + 3) == "s0.0 s1.0 s2.0 s2.3 n11 ");
  CHECK(names(0, 2) == "s0.0 s0.1 s0.2 n2 ");  // both directions are equally long
  CHECK((*find_router("dor"))
            ->make(test::network_of("tree:k=2;n=2"), {})
            .error()
            .message.find("needs a torus") != std::string::npos);
}

TEST_CASE("the same seed gives the same routes, another seed others, and D-mod-K uses none") {
  const Network network = test::network_of("tree:k=4;n=2");
  const std::vector<Demand> demands = all_pairs(network);
  const auto same = [&](const char* name, std::uint64_t one, std::uint64_t other) {
    const RouteTable left = routed(network, name, demands, one);
    const RouteTable right = routed(network, name, demands, other);
    for (std::size_t index = 0; index < demands.size(); ++index) {
      if (!std::ranges::equal(left.way(index), right.way(index))) return false;
    }
    return true;
  };
  for (const char* name : {"random", "ecmp", "valiant", "ugal"}) {
    CAPTURE(name);
    CHECK(same(name, 7, 7));
    CHECK_FALSE(same(name, 7, 8));
  }
  CHECK(same("dmodk", 7, 8));
}

TEST_CASE("ECMP spreads the flows of a pair of hosts and keeps each flow on one route") {
  const Network network = test::two_level_tree(2, 4, 1, 64);
  std::vector<Demand> demands;
  for (std::uint32_t flow = 0; flow < 400; ++flow) demands.push_back({0, 1, 1, 1, flow});
  const RouteTable table = routed(network, "ecmp", demands);
  std::map<LinkId, int> flows;
  for (std::size_t index = 0; index < demands.size(); ++index) ++flows[table.way(index)[1]];
  CHECK(flows.size() == 4);
  for (const auto& [link, count] : flows) CHECK(count > 60);
}

TEST_CASE("greedy routes the heaviest first and considers the load of others") {
  const Network network = test::two_level_tree(2, 2, 3);
  const LinkId taken = network.find_link(network.find_node("edge1"), network.find_node("core1"));
  LinkUse background(network);
  background.bytes[taken] = 4;
  const std::vector<Demand> demands = {{0, 3, 1, 1, 0}, {1, 4, 5, 1, 0}, {2, 5, 3, 1, 0}};
  // 5 goes to core2 and 3 to core1. Then the sums up and down are 7 + 3 and 5 + 5: the first wins;
  // the largest are 7 and 5: the second.
  for (const auto& [name, bytes] : {std::pair("greedy-sum", 4), std::pair("greedy-max", 3)}) {
    auto router = (*find_router(name))->make(network, {});
    REQUIRE(router);
    const auto use = link_load(network, **router, demands, background);
    REQUIRE(use);
    CHECK(use->bytes[taken] == bytes);
  }
}

TEST_CASE("greedy weighs bytes by capacity") {
  NetworkBuilder builder("two ways");
  const auto one = builder.add_host("a", 1), other = builder.add_host("b", 1);
  const auto left = builder.add_switch("l"), right = builder.add_switch("r");
  const auto slow = builder.add_switch("slow"), wide = builder.add_switch("wide");
  builder.add_cable(one, left, 1, 0);
  builder.add_cable(other, right, 1, 0);
  for (const auto& [node, capacity] : {std::pair(slow, 1.0), std::pair(wide, 9.0)}) {
    builder.add_cable(left, node, capacity, 0);
    builder.add_cable(node, right, capacity, 0);
  }
  const auto network = builder.build();
  REQUIRE(network);
  const std::vector<Demand> demands(10, Demand{0, 1, 1, 1, 0});
  auto router = (*find_router("greedy-max"))->make(*network, {});
  const auto use = link_load(*network, **router, demands, LinkUse(*network));
  REQUIRE(use);
  CHECK(use->bytes[network->find_link(network->find_node("l"), network->find_node("slow"))] == 1);
}

TEST_CASE(
    "the bound of the optimal router holds for every routing, and its result is close to it") {
  for (const std::string specification : kNetworks) {
    CAPTURE(specification);
    const Network network = test::network_of(specification);
    const std::vector<Demand> demands = all_pairs(network);
    auto optimal = (*find_router("optimal"))->make(network, {});
    const auto use = link_load(network, **optimal, demands, LinkUse(network));
    REQUIRE(use);
    const double bound = (*optimal)->congestion_bound();
    const double reached =
        load_figures(network, *use, specification.find("w=2") != std::string::npos).max_congestion;
    CHECK(bound > 0);
    CHECK(reached >= bound * (1 - 1e-9));
    CHECK(reached <= bound * 1.1);
    for (const char* name : {"dmodk", "greedy-max", "ugal", "valiant"}) {
      auto router = (*find_router(name))->make(network, {});
      const auto other = link_load(network, **router, demands, LinkUse(network));
      REQUIRE(other);
      CHECK(load_figures(network, *other, true).max_congestion >= bound * (1 - 1e-9));
    }
  }
}

TEST_CASE("the optimal router splits 12 bytes over two routes of capacity 1 and one of 4") {
  NetworkBuilder builder("three ways");
  const auto one = builder.add_host("a", 1), other = builder.add_host("b", 1);
  const auto left = builder.add_switch("l"), right = builder.add_switch("r");
  builder.add_cable(one, left, 1, 0);
  builder.add_cable(other, right, 1, 0);
  for (const double capacity : {1.0, 4.0, 1.0}) {
    builder.add_cable(left, right, capacity / 4e9, 0);  // whatever the unit
  }
  const auto network = builder.build();
  REQUIRE(network);
  const std::vector<Demand> demands = {{0, 1, 12, 1, 0}};
  auto optimal = (*find_router("optimal"))->make(*network, {});
  const auto use = link_load(*network, **optimal, demands, LinkUse(*network));
  REQUIRE(use);
  CHECK((*optimal)->congestion_bound() / 4e9 == doctest::Approx(2).epsilon(0.02));
  CHECK(load_figures(*network, *use, false).max_congestion / 4e9 ==
        doctest::Approx(2).epsilon(0.02));
  CHECK(use->bytes[network->find_link(0, 2)] == doctest::Approx(12));
}

TEST_CASE("hosts linked directly pass messages on without a switch") {
  NetworkBuilder builder("ring");
  for (int at = 0; at < 5; ++at) builder.add_host("h" + std::to_string(at), 1);
  for (std::uint32_t at = 0; at < 5; ++at) builder.add_cable(at, (at + 1) % 5, 1, 0);
  const auto network = builder.build();
  REQUIRE(network);
  const std::vector<Demand> demands = all_pairs(*network);
  const RouteTable table = routed(*network, "dmodk", demands);
  for (std::size_t index = 0; index < demands.size(); ++index) {
    CHECK(is_whole(*network, demands[index], table.way(index)));
    CHECK(table.way(index).size() <= 2);
  }
}

TEST_CASE("the Error about unreachable hosts names both") {
  NetworkBuilder builder("parted");
  const auto one = builder.add_host("a", 1), other = builder.add_host("b", 1);
  const auto left = builder.add_switch("l"), right = builder.add_switch("r");
  builder.add_cable(one, left, 1, 0);
  builder.add_cable(other, right, 1, 0);
  builder.add_link(right, left, 1, 0);  // there is a way back only
  const auto network = builder.build();
  REQUIRE(network);
  const std::vector<Demand> demands = {{1, 0, 1, 1, 0}, {0, 1, 1, 1, 0}};
  for (const RouterRow& row : routers()) {
    if (std::string(row.name) == "dor" || std::string(row.name) == "given") continue;
    CAPTURE(row.name);
    auto router = row.make(*network, {});
    REQUIRE(router);
    RouteTable table(demands.size());
    const auto status = (*router)->route(demands, LinkUse(*network), table);
    REQUIRE_FALSE(status);
    CHECK(status.error().message.find("there is no path from 'a' to 'b' in 'parted'") == 0);
  }
}

TEST_CASE("the Error about one-way links names the host without a route back") {
  NetworkBuilder builder("one-way");
  const std::uint32_t a = builder.add_host("a", 1), b = builder.add_host("b", 1),
                      top = builder.add_switch("s");
  builder.add_cable(a, top, 1, 0);
  builder.add_link(top, b, 1, 0);
  const auto network = builder.build();
  REQUIRE(network);
  auto router = (*find_router("dmodk"))->make(*network, {});
  RouteTable table(1);
  const std::vector<Demand> there = {{0, 1, 1, 1, 0}}, back = {{1, 0, 1, 1, 0}};
  CHECK((*router)->route(there, LinkUse(*network), table));
  const auto none = (*router)->route(back, LinkUse(*network), table);
  REQUIRE_FALSE(none);
  CHECK(none.error().message.find("there is no path from 'b' to 'a'") == 0);
}

TEST_CASE("a cycle of switches makes no route longer than necessary") {
  NetworkBuilder builder("cycle");
  std::vector<std::uint32_t> switches;
  for (int at = 0; at < 5; ++at) {
    const std::string number = std::to_string(at);
    switches.push_back(builder.add_switch("s" + number));
    builder.add_cable(builder.add_host("h" + number, 1), switches.back(), 1, 0);
    if (at > 0) builder.add_link(switches[static_cast<std::size_t>(at) - 1], switches.back(), 1, 0);
  }
  builder.add_link(switches.back(), switches.front(), 1, 0);  // one way around only
  const auto network = builder.build();
  REQUIRE(network);
  const std::vector<Demand> demands = {{0, 4, 1, 1, 0}, {4, 0, 1, 1, 1}};
  for (const char* name : {"dmodk", "ecmp", "greedy-max", "minimal", "random"}) {
    auto router = (*find_router(name))->make(*network, {});
    RouteTable table(2);
    REQUIRE((*router)->route(demands, LinkUse(*network), table));
    CHECK(table.way(0).size() == 6);
    CHECK(table.way(1).size() == 3);
  }
}

TEST_CASE("routes are forgotten and found again when memory is short") {
  const Network network = test::network_of("tree:k=3;n=3");
  ShortestPaths roomy(network), tight(network, 1);
  for (HostId source = 0; source < network.host_count(); ++source) {
    for (HostId target = 0; target < network.host_count(); ++target) {
      CHECK(roomy.count_ways(source, target) == tight.count_ways(source, target));
    }
  }
}

}  // namespace
}  // namespace fathom::simulator
