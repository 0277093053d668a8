// SPDX-License-Identifier: BSD-3-Clause
// Clusters from other programs' files, failed cables, and forwarding tables.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "simulator/formats/cluster.h"
#include "simulator/formats/simgrid_values.h"
#include "simulator/formats/slurm_tree.h"
#include "simulator/network/failures.h"
#include "simulator/routing/forwarding.h"
#include "simulator/routing/registry.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/simulator/networks.h"

namespace fathom::simulator {
namespace {

using test::contents;
using test::Scratch;
using test::two_level_tree;
using test::write_file;

Network read_graphml_text(const std::string& text) {
  Scratch folder;
  write_file(folder / "file", text);
  auto network = load_cluster(folder / "file", {4, 5.0, 1e-6, {}});
  REQUIRE_MESSAGE(network, network.error().message);
  return std::move(*network);
}

std::string error(const std::string& text) {
  Scratch folder;
  write_file(folder / "file", text);
  auto network = load_cluster(folder / "file");
  REQUIRE_FALSE(network);
  const std::string message = network.error().message;
  CHECK(message.find(folder / "file:") == 0);
  return message.substr((folder / "file:").size());
}

TEST_CASE("Slurm's host lists are expanded") {
  const auto names = [](const char* list) {
    const auto expanded = expand_host_list(list);
    REQUIRE(expanded);
    std::string text;
    for (const std::string& name : *expanded) text += name + " ";
    return text;
  };
  CHECK(names("a") == "a ");
  CHECK(names("a[1-3,7],b") == "a1 a2 a3 a7 b ");
  CHECK(names("a[08-11]x") == "a08x a09x a10x a11x ");
  CHECK(names("r[0-1]n[0-1]") == "r0n0 r0n1 r1n0 r1n1 ");
  for (const char* list : {"a[1", "a1]", "a[x]", "a[3-1]", "a,,b", "a[0-99999999]", ""}) {
    CAPTURE(list);
    CHECK_FALSE(expand_host_list(list));
  }
}

TEST_CASE("ranges of more names than can be simulated are refused with their number") {
  CHECK(expand_host_list("n[0-9999999]").error().message ==
        "names 10000000 nodes; at most 2097152 can be simulated");
  CHECK(expand_host_list("r[0-9999]n[0-999]").error().message.starts_with("names 10000000 nodes"));
  CHECK(expand_host_list("n[0-1999999],m[0-999999]").error().message.starts_with("names 3000000 "));
  CHECK(error("SwitchName=a Nodes=n[0-1999999]\nSwitchName=b Nodes=m[0-999999]\n") ==
        "2: up to this line, the file names 3000000 nodes; at most 2097152 can be simulated");
  CHECK(simgrid_radical("0-9999999").error().message ==
        "'0-9999999': that is 10000000 hosts and switches; at most 2097152 can be simulated");
  CHECK(simgrid_radical("4294967295")->size() == 1);  // above which there is no other number
}

TEST_CASE("Slurm's topology.conf is read") {
  const Network network = read_graphml_text(
      "# two leaves\n"
      "SwitchName=s0 Nodes=n[0-2] LinkSpeed=100\n"
      "switchname=s1\tnodes=n[3-4]   # a comment\n\n"
      "SwitchName=top Switches=s[0-1]\n");
  CHECK(network.host_count() == 5);
  CHECK(network.switch_count() == 3);
  CHECK(network.link_count() == 2 * (5 + 2));
  CHECK(network.slots(0) == 4);
  CHECK(network.link(0).capacity_Bps == 5);
  CHECK(network.link(0).latency_s == 1e-6);
  CHECK(network.find_link(network.find_node("s1"), network.find_node("top")) != kNoId);
  CHECK(network.find_link(network.find_node("n4"), network.find_node("s1")) != kNoId);
}

TEST_CASE("errors in a topology.conf name the line") {
  CHECK(error("SwitchName=a Nodes=n1\nSwitchName=b Switches=c\n") == "2: there is no switch 'c'");
  CHECK(
      error(
          "SwitchName=a Switches=b\nSwitchName=b Switches=c Nodes=n1\nSwitchName=c Switches=a\n") ==
      "1: switch 'a' is part of a cycle of switches, or above one");
  CHECK(error("SwitchName=a Nodes=n[1\n").find("1: 'n[1': '[' without ']'") == 0);
  CHECK(error("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n") ==
        "2: switch 'a' is defined twice");
  CHECK(error("SwitchName=a Switches=a\n") == "1: switch 'a' is its own child");
  CHECK(error("RingName=r Nodes=n1\n").find("1: 'RingName' is unknown; topology/tree and") == 0);
  CHECK(error("SwitchName=a Nodes=a\n") == "1: 'a' is a switch, not a node");
  CHECK(error("SwitchName=a\n") == " the network has no host");
}

constexpr char kFabric[] =
    "#\n# Topology file: generated on a Monday\n#\n"
    "vendid=0x2c9\ndevid=0xc738\nsysimgguid=0x1\nswitchguid=0x1(1)\n"
    "Switch\t36 \"S-01\"\t\t# \"MF0;leaf:SX6036/U1\" enhanced port 0 lid 3 lmc 0\n"
    "[1]\t\"H-0a\"[1](a1) \t\t# \"node01 HCA-1\" lid 7 4xFDR\n"
    "[2]\t\"H-0b\"[1](b1) \t\t# \"node02 HCA-1\" lid 8 4xEDR\n"
    "[9]\t\"H-0f\"[1](f1) \t\t# \"Mellanox Technologies Aggregation Node\" lid 9 4xEDR\n"
    "\nvendid=0x2c9\ncaguid=0xa\n"
    "Ca\t1 \"H-0a\"\t\t# \"node01 HCA-1\"\n"
    "[1](a1) \t\"S-01\"[1]\t\t# lid 7 lmc 0 \"MF0;leaf:SX6036/U1\" lid 3 4xFDR\n"
    "Ca\t1 \"H-0c\"\t\t# \"node01 HCA-2\"\n"
    "Ca\t1 \"H-0b\"\t\t# \"node02 HCA-1\"\n"
    "[1](b1) \t\"S-01\"[2]\t\t# lid 8 lmc 0 \"MF0;leaf:SX6036/U1\" lid 3 4xEDR\n"
    "Ca\t1 \"H-0f\"\t\t# \"Mellanox Technologies Aggregation Node\"\n"
    "[1](f1) \t\"S-01\"[9]\t\t# lid 9\n";

TEST_CASE(
    "ibnetdiscover's hosts, links, ports and speeds are read without adapters inside switches") {
  const Network network = read_graphml_text(kFabric);
  CHECK(network.host_count() == 2);
  CHECK(network.node_name(0) == "node01");
  CHECK(network.switch_count() == 1);
  CHECK(network.link_count() == 4);
  const LinkId down = network.find_link(2, 1);
  REQUIRE(down != kNoId);
  CHECK(network.link(down).port == 2);
  CHECK(network.link(down).capacity_Bps == doctest::Approx(12.5e9));
  CHECK(network.link(network.find_link(0, 2)).capacity_Bps ==
        doctest::Approx(6.818e9).epsilon(0.001));
}

TEST_CASE("errors in ibnetdiscover's output name the line") {
  CHECK(error("Switch 36 \"S-01\"\n[1] \"H-0a\"[1]\n") == "2: 'H-0a' is not described");
  CHECK(error("Switch 36\n") == "1: the Switch has no name in double quotes");
  CHECK(error("Switch 36 \"S-01\"\nSwitch 36 \"S-01\"\n") == "2: 'S-01' is described twice");
  CHECK(error("vendid=0x2c9\n[1] \"H-0a\"[1]\n") ==
        "2: a port comes before the first Switch or Ca");
  CHECK(error("Switch 36 \"S-01\"\n[one] \"H-0a\"\n").find("2: a line that begins with '['") == 0);
  CHECK(error("vendid=0x2c9\n") == " has no Switch or Ca line; give the output of ibnetdiscover");
}

TEST_CASE("cables fail by name or by share, in both directions") {
  const Network network = two_level_tree(3, 2, 2);
  const auto cable = find_cables(network, "edge1=core1");
  REQUIRE(cable);
  CHECK(cable->size() == 2);
  const auto left = without_links(network, *cable);
  REQUIRE(left);
  CHECK(left->link_count() == network.link_count() - 2);
  CHECK(left->find_link(left->find_node("edge1"), left->find_node("core1")) == kNoId);
  CHECK(left->find_link(left->find_node("core1"), left->find_node("edge1")) == kNoId);
  auto router = (*find_router("dmodk"))->make(*left, {});
  RouteTable table(1);
  const std::vector<Demand> demands = {
      {0, 4, 1, 1, 0}};  // even: core1, were it not for the failure
  REQUIRE((*router)->route(demands, LinkUse(*left), table));
  CHECK(left->node_name(left->link(table.way(0)[1]).target) == "core2");

  CHECK(draw_cables(network, 0.5, 1).size() == 6);  // 3 of 6 cables
  CHECK(draw_cables(network, 1, 1).size() == 12);
  CHECK(draw_cables(network, 0, 1).empty());
  CHECK(draw_cables(network, 0.5, 1) == draw_cables(network, 0.5, 1));
  CHECK(find_cables(network, "edge1").error().message.find("A=B") != std::string::npos);
  CHECK(find_cables(network, "edge1=x").error().message == "'tree' has no node 'x'");
  CHECK(find_cables(network, "edge1=edge2").error().message ==
        "'edge1' and 'edge2' are not linked in 'tree'");
}

TEST_CASE("forwarding tables need the destination for D-mod-K and also the source for greedy") {
  const Network network = two_level_tree(2, 2, 2);
  const std::vector<Demand> demands = {{0, 2, 5, 1, 0}, {1, 2, 4, 1, 0}, {2, 2, 1, 1, 0}};
  const auto table_of = [&](const char* name) {
    auto router = (*find_router(name))->make(network, {});
    ForwardingTable table(network, demands);
    REQUIRE((*router)->route(demands, LinkUse(network), table));
    return table;
  };
  const auto by_destination = table_of("dmodk").per_destination();
  REQUIRE(by_destination);
  CHECK(by_destination->size() == 3);  // edge1, one core, edge2
  CHECK(table_of("dmodk").per_flow()->size() == 6);
  CHECK(table_of("greedy-max").per_flow()->size() == 6);
  const auto greedy = table_of("greedy-max");
  CHECK(greedy.per_destination().error().message.find(
            "switch 'edge1' would have to forward to 'n2' over two different links") == 0);
  Scratch folder;
  REQUIRE(write_forwarding_csv(network, *by_destination, folder / "t.csv"));
  CHECK(contents(folder / "t.csv").find("edge1,*,n2,core1,\n") != std::string::npos);
  CHECK(write_openflow(network, *by_destination, folder / "t.yml").error().message ==
        "host 'n0' has no mac; OpenFlow tables need one");
}

TEST_CASE("OpenFlow tables are written in the reference's format") {
  NetworkBuilder builder("ring of three");
  for (int at = 0; at < 3; ++at) {
    const std::string number = std::to_string(at + 1);
    builder.add_host("h" + number, 1, "00:0" + number);
    builder.add_switch("s" + number, at + 1);
  }
  for (std::uint32_t at = 0; at < 3; ++at) {
    const std::uint32_t host = 2 * at, here = host + 1, next = (host + 3) % 6;
    builder.add_link(host, here, 1, 0);
    builder.add_link(here, host, 1, 0, 1);
    builder.add_link(here, next, 1, 0, 2);
    builder.add_link(next, here, 1, 0, 3);
  }
  const auto network = builder.build();
  REQUIRE(network);
  const std::vector<Demand> demands = {{0, 1, 1, 1, 0}};
  auto router = (*find_router("minimal"))->make(*network, {});
  ForwardingTable table(*network, demands);
  REQUIRE((*router)->route(demands, LinkUse(*network), table));
  Scratch folder;
  REQUIRE(write_openflow(*network, *table.per_flow(), folder / "t.yml"));
  CHECK(contents(folder / "t.yml") ==
        "---\n"
        "1:\n  blocked_ports: [3]\n  fdb:\n    '00:01':\n      '00:02': 2\n"
        "2:\n  blocked_ports: []\n  fdb:\n    '00:01':\n      '00:02': 1\n"
        "3:\n  blocked_ports: [2]\n  fdb: {}\n");
}

}  // namespace
}  // namespace fathom::simulator
