// SPDX-License-Identifier: BSD-3-Clause
// What is inside machines: hwloc's topologies as part of the network, in placement and in
// launchers' files.
#include <doctest/doctest.h>
#include <hwloc.h>

#include <string>

#include "simulator/formats/cluster.h"
#include "simulator/formats/node_topology.h"
#include "simulator/network/host_names.h"
#include "simulator/placement/launcher_files.h"
#include "simulator/placement/objective.h"
#include "simulator/placement/placed_routes.h"
#include "simulator/placement/registry.h"
#include "simulator/placement/simple_placements.h"
#include "simulator/routing/registry.h"
#include "simulator/topology/registry.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/simulator/networks.h"

namespace fathom::simulator {
namespace {

using test::Scratch;
using test::write_file;

// hwloc's own XML of a topology in its own shorthand.
std::string xml(const char* synthetic) {
  hwloc_topology_t topology = nullptr;
  REQUIRE(hwloc_topology_init(&topology) == 0);
  REQUIRE(hwloc_topology_set_synthetic(topology, synthetic) == 0);
  REQUIRE(hwloc_topology_load(topology) == 0);
  char* text = nullptr;
  int length = 0;
  REQUIRE(hwloc_topology_export_xmlbuffer(topology, &text, &length, 0) == 0);
  const std::string made(text, static_cast<std::size_t>(length - 1));
  hwloc_free_xmlbuffer(topology, text);
  hwloc_topology_destroy(topology);
  return made;
}

NodeTopology node(const char* synthetic) {
  Scratch folder;
  write_file(folder / "node.xml", xml(synthetic));
  const auto read = read_hwloc(folder / "node.xml");
  REQUIRE_MESSAGE(read, read.error().message);
  return *read;
}

Network cluster_of(const char* synthetic,
                   const std::string& cluster = "leafspine:leaves=2;spines=1;hosts=2;capacity=10") {
  Scratch folder;
  write_file(folder / "node.xml", xml(synthetic));
  ClusterDefaults defaults;
  defaults.node = folder / "node.xml";
  defaults.node_capacity_Bps = 40;
  auto network = load_cluster(cluster, defaults);
  REQUIRE_MESSAGE(network, network.error().message);
  return std::move(*network);
}

// By dimension order, by name: "s0.0 s0.1 …".
std::string switches_passed(const Network& network, HostId from, HostId to) {
  const auto routes = PlacedRoutes::make(network, test::job_of(2, {{0, 1, 1, 1}}), {from, to},
                                         **find_router("dor"), 1, LinkUse(network));
  REQUIRE_MESSAGE(routes, routes.error().message);
  std::string names;
  for (const LinkId link : routes->between(0, 1)) {
    if (network.joins_switches(link))
      names += network.node_name(network.link(link).source) + ' ' +
               network.node_name(network.link(link).target) + ' ';
  }
  return names;
}

TEST_CASE("hwloc's domains are NUMA nodes, or sockets where these are fewer, and slots are cores") {
  const NodeTopology two = node("pack:2 numa:2 core:4 pu:2");
  CHECK(two.sockets == 2);
  REQUIRE(two.domains.size() == 4);
  CHECK(two.domains[3].socket == 1);
  CHECK(two.domains[3].first_core == 12);
  CHECK(two.domains[3].cores == 4);
  const NodeTopology sockets = node("numa:1 pack:2 core:3 pu:1");
  REQUIRE(sockets.domains.size() == 2);
  CHECK(sockets.domains[1].first_core == 3);
  CHECK(sockets.domains[1].cores == 3);
  CHECK(node("pack:1 core:8 pu:1").domains.size() == 1);
}

TEST_CASE("dimension-order routes are the same whatever is inside the hosts") {
  const Network plain = cluster_of("pack:1 core:2 pu:1", "torus:dims=3,4"),
                split = cluster_of("pack:2 core:1 pu:1", "torus:dims=3,4");
  REQUIRE(split.host_count() == 2 * plain.host_count());
  for (HostId from = 0; from < plain.host_count(); ++from) {
    for (HostId to = 0; to < plain.host_count(); ++to) {
      if (from == to) continue;
      CHECK(switches_passed(plain, from, to) == switches_passed(split, 2 * from + 1, 2 * to));
    }
  }
}

TEST_CASE("sockets and NUMA domains become levels of the network below the hosts") {
  const Network network = cluster_of("pack:2 numa:2 core:4 pu:2");
  CHECK(network.host_count() == 4 * 4);
  CHECK(network.switch_count() == 3 + 4 * 3);
  CHECK(network.total_slots() == 4 * 16);
  const HostId last = network.find_node("n3/numa3");
  REQUIRE(last != kNoId);
  CHECK(network.machine(last) == "n3");
  CHECK(network.first_core(last) == 12);
  CHECK(network.find_link(network.find_node("n3/socket1"), network.find_node("n3")) != kNoId);
  CHECK(network.link(network.find_link(last, network.find_node("n3/socket1"))).capacity_Bps == 40);
  std::uint32_t between_switches = 0;
  for (LinkId link = 0; link < network.link_count(); ++link)
    between_switches += network.joins_switches(link);
  CHECK(between_switches ==
        4);  // two cables between leaves and spine: what is inside machines is none
  CHECK(HostNames(network).of("n2").size() == 4);
  CHECK(HostNames(network).of("n2/numa1").size() == 1);
  CHECK(HostNames(network).of("n9").empty());
}

TEST_CASE("a machine with one domain stays one host with its cores as slots") {
  const Network network = cluster_of("pack:1 core:8 pu:2");
  CHECK(network.host_count() == 4);
  CHECK(network.switch_count() == 3);
  CHECK(network.slots(0) == 8);
  CHECK(network.machine(0) == "n0");
}

// Ranks 0 and 2, 1 and 3 talk: on one machine of two domains of two cores, block placement splits
// both pairs.
TEST_CASE("placement sees domains, and the launcher gets machine and core") {
  const Network network = cluster_of("pack:2 core:2 pu:1", "leafspine:leaves=1;spines=1;hosts=1");
  const Job job{"pairs", 4, {{0, 2, 100, 1}, {1, 3, 100, 1}}};
  const std::vector<HostId> hosts = {0, 1};
  const auto block = place_processes(**find_placement("block"), {network, job, hosts, 1});
  const auto better = place_processes(**find_placement("bisection"), {network, job, hosts, 1});
  REQUIRE(block);
  REQUIRE(better);
  const RouterRow& router = **find_router("dmodk");
  CHECK((*evaluate(network, job, *block, router, 1, false))[Objective::kHostBytes] == 200);
  CHECK((*evaluate(network, job, *better, router, 1, false))[Objective::kHostBytes] == 0);
  const Placement known = {0, 1, 0, 1};
  const auto text = (*find_placement_format("rankfile"))->text(network, known, known);
  REQUIRE(text);
  CHECK(*text == "rank 0=n0 slot=0\nrank 1=n0 slot=2\nrank 2=n0 slot=1\nrank 3=n0 slot=3\n");
  CHECK(*(*find_placement_format("host"))->text(network, known, known) == "n0,n0,n0,n0\n");
  Scratch folder;
  write_file(folder / "ranks", *text);
  const auto again = read_placement(network, folder / "ranks");
  REQUIRE(again);
  CHECK(*again == known);
  write_file(folder / "ranks", "rank 0=n0 slot=0\nrank 1=n0 slot=1\nrank 2=n0 slot=1\n");
  CHECK_FALSE(read_placement(network, folder / "ranks"));
}

TEST_CASE("a rank file that names a core which the host does not have is refused") {
  Scratch folder;
  const auto refusal = [&](const Network& network, const std::string& text) {
    write_file(folder / "ranks", text);
    const auto placement = read_placement(network, folder / "ranks");
    return placement ? "" : placement.error().message.substr((folder / "ranks:").size());
  };
  const Network plain = *load_cluster("leafspine:leaves=1;spines=1;hosts=2;slots=4");
  const std::string first = "rank 0=n0 slot=3\n";
  CHECK(refusal(plain, first + "rank 1=n1 slot=0-3\n") == "");
  CHECK(refusal(plain, first + "rank 1=n1 slot=1:7\n") == "");  // socket and core
  CHECK(
      refusal(plain, first + "rank 1=n1 slot=4\n")
          .starts_with("2: core 4 is beyond the 4 slots of host 'n1', which are numbered from 0"));
  CHECK(refusal(plain, first + "rank 1=n1 slot=2-4\n").starts_with("2: core 4 is beyond"));
  CHECK(refusal(plain, first + "rank 1=n1 slot=0,99\n").starts_with("2: core 99 is beyond"));
  CHECK(
      refusal(plain, first + "rank 1=n1 slot=4294967296\n").starts_with("2: '4294967296' is not"));
  CHECK(refusal(plain, first + "rank 1=n1 slot=x\n").starts_with("2: 'x' is not a core, a range"));
  CHECK(refusal(plain, first + "rank x=n1 slot=1\n") == "2: expected rank N=HOST slot=CORES");
  const Network divided = cluster_of("pack:2 core:2 pu:1", "leafspine:leaves=1;spines=1;hosts=1");
  CHECK(refusal(divided, "rank 0=n0 slot=3\n") == "");
  CHECK(refusal(divided, "rank 0=n0 slot=4\n").starts_with("1: core 4 is beyond the 4 slots"));
}

TEST_CASE("input that is not an hwloc topology is refused") {
  Scratch folder;
  write_file(folder / "node.xml", "<graphml/>");
  CHECK(read_hwloc(folder / "node.xml")
            .error()
            .message.find("node.xml: is not a topology that hwloc can read") != std::string::npos);
  CHECK(read_hwloc(folder / "gone.xml").error().message.find("cannot be read") !=
        std::string::npos);
}

}  // namespace
}  // namespace fathom::simulator
