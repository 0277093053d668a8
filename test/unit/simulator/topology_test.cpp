// SPDX-License-Identifier: BSD-3-Clause
// Generated networks compared with their definitions: nodes, links, degrees, distances and, for fat
// trees, the number of shortest ways between every two hosts.
#include "simulator/topology/topology.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "simulator/formats/cluster.h"
#include "simulator/network/shortest_paths.h"
#include "simulator/topology/finite_field.h"
#include "test/unit/simulator/networks.h"

namespace fathom::simulator {
namespace {

// The largest distance between two switches, in links.
unsigned diameter(const Network& network) {
  ShortestPaths paths(network);
  unsigned largest = 0;
  for (NodeId target = network.host_count(); target < network.node_count(); ++target) {
    ShortestPaths::Toward& toward = paths.toward(target);
    for (NodeId node = network.host_count(); node < network.node_count(); ++node) {
      largest = std::max<unsigned>(largest, toward.distance(node));
    }
  }
  return largest;
}

// Links to other switches, by switch; each number once.
std::set<std::size_t> degrees(const Network& network) {
  std::set<std::size_t> found;
  for (NodeId node = network.host_count(); node < network.node_count(); ++node) {
    const auto links = network.links_from(node);
    found.insert(static_cast<std::size_t>(std::count_if(
        links.begin(), links.end(), [&](LinkId link) { return network.joins_switches(link); })));
  }
  return found;
}

std::string as_text(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers)
    text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

// The equations of Öhring et al. for one XGFT: nodes and links by level, and w_1 · … · w_L shortest
// ways of 2L links between hosts whose numbers first agree above position L.
void check_tree(const std::vector<std::uint32_t>& m, const std::vector<std::uint32_t>& w) {
  const std::string specification = "xgft:m=" + as_text(m) + ";w=" + as_text(w);
  CAPTURE(specification);
  const Network network = test::network_of(specification);
  const auto nodes_at = [&](std::size_t level) {
    std::uint32_t nodes = 1;
    for (std::size_t i = 0; i < m.size(); ++i) nodes *= i < level ? w[i] : m[i];
    return nodes;
  };
  std::uint32_t nodes = 0, cables = 0;
  for (std::size_t level = 0; level <= m.size(); ++level) nodes += nodes_at(level);
  for (std::size_t level = 0; level < m.size(); ++level) cables += nodes_at(level) * w[level];
  CHECK(network.host_count() == nodes_at(0));
  CHECK(network.node_count() == nodes);
  CHECK(network.link_count() == 2 * cables);
  ShortestPaths paths(network);
  bool all_right = true;
  for (HostId source = 0; source < network.host_count(); ++source) {
    for (HostId target = 0; target < network.host_count(); ++target) {
      if (source == target) continue;
      std::uint32_t one = source, other = target;
      double ways = 1;
      unsigned level = 0;
      for (; one != other; ++level) {
        ways *= w[level];
        one /= m[level];
        other /= m[level];
      }
      const NodeId goal = paths.target_of(target);
      const unsigned distance = paths.toward(goal).distance(source) + (goal == target ? 0u : 1u);
      all_right = all_right && paths.count_ways(source, target) == ways && distance == 2 * level;
    }
  }
  CHECK(all_right);
}

TEST_CASE("every pair of hosts of an XGFT has as many routes as the formula gives") {
  check_tree({5}, {1});
  check_tree({5}, {3});
  check_tree({4, 3}, {1, 2});
  check_tree({2, 3}, {2, 3});
  check_tree({4, 4, 3}, {1, 2, 2});  // the reference wires 96 + 96 links here; right are 72 + 96
  check_tree({3, 2, 4}, {1, 3, 2});
  check_tree({2, 2, 2}, {2, 1, 3});
  check_tree({2, 3, 2, 2}, {1, 2, 3, 2});
  check_tree({2, 2, 2, 2, 2}, {1, 2, 2, 2, 2});
}

TEST_CASE(
    "XGFT(3;4,4,3;1,2,2) has 72 links between switches, and four roots (the reference: 96 links)") {
  const Network network = test::network_of("xgft:m=4,4,3;w=1,2,2");
  CHECK(network.host_count() == 48);
  LinkId switch_links = 0;
  for (LinkId link = 0; link < network.link_count(); ++link)
    switch_links += network.joins_switches(link);
  CHECK(switch_links == 72);
  CHECK(network.find_node("s3.3") != kNoId);
  CHECK(network.find_node("s3.4") == kNoId);
}

TEST_CASE("k-ary n-trees and leaf-spine networks have their hosts, switches and link capacities") {
  const Network tree = test::network_of("tree:k=4;n=3");
  CHECK(tree.host_count() == 64);
  CHECK(tree.switch_count() == 48);
  CHECK(degrees(tree) == std::set<std::size_t>{4, 8});
  const Network clos = test::network_of(
      "leafspine:leaves=3;spines=2;hosts=5;slots=7;taper=2;capacity=10;latency=1e-6");
  CHECK(clos.host_count() == 15);
  CHECK(clos.switch_count() == 5);
  CHECK(clos.slots(14) == 7);
  CHECK(clos.link(0).capacity_Bps == 10);
  CHECK(clos.link(clos.link_count() - 1).capacity_Bps == 5);
  CHECK(clos.link(0).latency_s == 1e-6);
}

TEST_CASE("taper applies by level, with the last value for all above") {
  const Network network = test::network_of("tree:k=2;n=4;taper=2,4;capacity=8");
  const auto up_from = [&](const char* name) {
    const NodeId node = network.find_node(name);
    return network.link(network.links_from(node).back()).capacity_Bps;
  };
  CHECK(up_from("n0") == 8);
  CHECK(up_from("s1.0") == 4);
  CHECK(up_from("s2.0") == 2);
  CHECK(up_from("s3.0") == 2);
}

TEST_CASE("a mesh or torus has degree 2 per dimension, and distances add up over dimensions") {
  const Network torus = test::network_of("torus:dims=4,5,6;hosts=2");
  CHECK(torus.host_count() == 240);
  CHECK(degrees(torus) == std::set<std::size_t>{6});
  CHECK(diameter(torus) == 2 + 2 + 3);
  const Network mesh = test::network_of("mesh:dims=4,5");
  CHECK(degrees(mesh) == std::set<std::size_t>{2, 3, 4});
  CHECK(diameter(mesh) == 3 + 4);
  CHECK(degrees(test::network_of("torus:dims=2,3")) == std::set<std::size_t>{3});
  CHECK(test::network_of("torus:dims=1").link_count() == 2);
  REQUIRE(torus.grid() != nullptr);
  CHECK(torus.node_name(torus.host_count() + 1) == "s0.0.1");
  CHECK(torus.find_link(torus.find_node("s3.0.0"), torus.find_node("s0.0.0")) != kNoId);
}

TEST_CASE("HyperX has one link for each dimension in which two switches differ") {
  const Network network = test::network_of("hyperx:dims=3,4,2;hosts=1");
  CHECK(degrees(network) == std::set<std::size_t>{2 + 3 + 1});
  CHECK(diameter(network) == 3);
}

TEST_CASE("every two groups of a dragonfly have the same number of links") {
  const Network network = test::network_of("dragonfly:switches=4;globals=2;hosts=2");
  CHECK(network.switch_count() == 9 * 4);
  CHECK(network.host_count() == 72);
  CHECK(degrees(network) == std::set<std::size_t>{3 + 2});
  CHECK(diameter(network) == 3);
  const Network small =
      test::network_of("dragonfly:switches=4;globals=2;hosts=1;groups=3");  // 4 cables a pair
  std::vector<int> cables(9, 0);
  for (const Link& link : small.links()) {
    if (small.is_host(link.source) || small.is_host(link.target)) continue;
    const std::uint32_t one = (link.source - small.host_count()) / 4;
    const std::uint32_t other = (link.target - small.host_count()) / 4;
    ++cables[one * 3 + other];
  }
  CHECK(cables == std::vector<int>{12, 4, 4, 4, 12, 4, 4, 4, 12});
  CHECK(degrees(small) == std::set<std::size_t>{5});
}

TEST_CASE("finite fields have neutral elements, inverses, distribution, and a primitive element") {
  for (const std::uint32_t q : {2u, 3u, 4u, 5u, 8u, 9u, 16u, 25u, 27u}) {
    CAPTURE(q);
    const auto field = FiniteField::of(q);
    REQUIRE(field);
    bool all_right = true;
    for (std::uint32_t a = 0; a < q; ++a) {
      std::set<std::uint32_t> sums, products;
      for (std::uint32_t b = 0; b < q; ++b) {
        sums.insert(field->add(a, b));
        products.insert(field->multiply(a, b));
        all_right = all_right && field->subtract(field->add(a, b), b) == a;
        for (std::uint32_t c = 0; c < q; ++c) {
          all_right = all_right && field->multiply(a, field->add(b, c)) ==
                                       field->add(field->multiply(a, b), field->multiply(a, c));
        }
      }
      all_right = all_right && field->add(a, 0) == a && field->multiply(a, 1) == a;
      all_right = all_right && sums.size() == q && products.size() == (a == 0 ? 1 : q);
    }
    CHECK(all_right);
    CHECK(std::set<std::uint32_t>(field->powers().begin(), field->powers().end()).size() == q - 1);
  }
  for (const std::uint32_t q : {0u, 1u, 6u, 12u, 100u}) CHECK_FALSE(FiniteField::of(q));
}

TEST_CASE("a Slim Fly has 2q² switches of degree (3q - delta) / 2 at diameter 2") {
  for (const unsigned q : {3u, 4u, 5u, 7u, 8u, 9u, 11u, 13u, 16u, 17u, 19u, 25u, 27u}) {
    CAPTURE(q);
    const Network network = test::network_of("slimfly:q=" + std::to_string(q) + ";hosts=1");
    CHECK(network.switch_count() == 2 * q * q);
    CHECK(degrees(network) == std::set<std::size_t>{(3 * q + (q % 4 == 3 ? 1 : 0)) / 2});
    CHECK(diameter(network) == 2);
  }
  CHECK(test::network_of("slimfly:q=5").host_count() ==
        200);  // Besta and Hoefler: 4 hosts on each of 50
  // Known graphs of diameter 2 by degree: 32 switches at 6, 128 at 12, 162 at 13.
  for (const auto& [q, switches, degree] :
       {std::tuple{4, 32u, 6u}, {8, 128u, 12u}, {9, 162u, 13u}}) {
    const Network network = test::network_of("slimfly:q=" + std::to_string(q) + ";hosts=1");
    CHECK(network.switch_count() == switches);
    CHECK(degrees(network) == std::set<std::size_t>{degree});
  }
}

TEST_CASE("wrong specifications are refused with the reason") {
  const auto error = [](const std::string& specification) {
    auto network = load_cluster(specification);
    REQUIRE_FALSE(network);
    return network.error().message;
  };
  CHECK(error("ring:n=4").find("there is no topology 'ring'; there are xgft, tree") !=
        std::string::npos);
  CHECK(error("tree:k=4") == "'tree:k=4': 'n' is missing");
  CHECK(error("tree:k=4;n=x") == "'tree:k=4;n=x': 'x' in 'n=x' is not a number");
  CHECK(error("tree:k=4;n=1.5").find("whole numbers") != std::string::npos);
  CHECK(error("tree:k=4;n=0").find("at least 1") != std::string::npos);
  CHECK(error("tree:k=4,4;n=2").find("'k' must be one number") != std::string::npos);
  CHECK(error("tree:k=4;n=2;m=3").find("there is no 'm'; there are capacity, k, latency, n") !=
        std::string::npos);
  CHECK(error("tree:k=4;k=4;n=2").find("'k' is given twice") != std::string::npos);
  CHECK(error("tree:k").find("key=value") != std::string::npos);
  CHECK(error("tree:k=2;n=4000000").find("more levels") != std::string::npos);
  CHECK(error("xgft:m=2,2;w=1").find("one number for each level") != std::string::npos);
  CHECK(error("tree:k=2;n=2;taper=0").find("'taper' must be above zero") != std::string::npos);
  CHECK(error("tree:k=2;n=2;capacity=-1").find("'capacity' must be one number above zero") !=
        std::string::npos);
  CHECK(error("dragonfly:switches=2;globals=1;hosts=1;groups=4").find("2 global ports") !=
        std::string::npos);
  CHECK(error("torus:dimz=4,4") ==
        "'torus:dimz=4,4': there is no 'dimz'; there are capacity, dims, hosts, latency, slots, "
        "taper");
  for (const char* q : {"1", "2", "6", "12", "15"}) {
    CHECK(error(std::string("slimfly:q=") + q).find("prime power other than 2") !=
          std::string::npos);
  }
}

TEST_CASE("networks that are too large are refused before they are made, with the number") {
  const auto error = [](const std::string& specification) {
    auto network = load_cluster(specification);
    REQUIRE_FALSE(network);
    return network.error().message;
  };
  CHECK(error("torus:dims=10000,1000") ==
        "'torus:dims=10000,1000': that is 20000000 hosts and switches; at most 2097152 can be "
        "simulated");
  CHECK(error("tree:k=64;n=20").find("hosts and switches") != std::string::npos);
  CHECK(error("hyperx:dims=100000").find("that is 10000100000 links; at most 16777216") !=
        std::string::npos);
  CHECK(error("leafspine:leaves=30000;spines=30000;hosts=1").find("that is 1800060000 links") !=
        std::string::npos);
  CHECK(error("dragonfly:switches=60000;globals=1;hosts=1;groups=2").find(" links; at most") !=
        std::string::npos);
  CHECK(error("dragonfly:switches=60000;globals=60000;hosts=1").find(" links; at most") !=
        std::string::npos);
  CHECK(error("slimfly:q=1021").find("hosts and switches") != std::string::npos);
  CHECK(error("torus:dims=99999999999").find("must not be above 67108864") != std::string::npos);
}

}  // namespace
}  // namespace fathom::simulator
