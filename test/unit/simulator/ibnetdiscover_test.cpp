// SPDX-License-Identifier: BSD-3-Clause
// Which adapters of a fabric are one host, and what hosts and switches are called.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "simulator/formats/cluster.h"
#include "test/unit/base/scratch_folder.h"

namespace fathom::simulator {
namespace {

struct FabricAdapter {
  std::string guid, system_image, description;
  std::vector<int> switches = {0};  // where its ports lead, by the switch's number
};

struct FabricSwitch {
  std::string guid, description, system_image = {};
};

// As ibnetdiscover prints it, with both ends of each cable.
std::string fabric_text(const std::vector<FabricSwitch>& switches,
                        const std::vector<FabricAdapter>& adapters) {
  std::string text = "#\n# Topology file: generated on Tue Mar  4 10:00:00 2025\n#\n";
  std::vector<std::string> ports(switches.size());
  std::vector<int> used(switches.size(), 0);
  std::string hosts;
  for (const FabricAdapter& adapter : adapters) {
    hosts += "\nvendid=0x2c9\ndevid=0x101b\n";
    if (!adapter.system_image.empty()) hosts += "sysimgguid=0x" + adapter.system_image + "\n";
    hosts += "caguid=0x" + adapter.guid + "\nCa\t" + std::to_string(adapter.switches.size()) +
             " \"H-" + adapter.guid + "\"\t\t# \"" + adapter.description + "\"\n";
    int port = 0;
    for (const int at : adapter.switches) {
      const std::string here = std::to_string(++port), there = std::to_string(++used[at]);
      hosts += "[" + here + "](" + adapter.guid + ") \t\"S-" + switches[at].guid + "\"[" + there +
               "]\t\t# lid 7 lmc 0 \"" + switches[at].description + "\" lid 3 2xHDR\n";
      ports[at] += "[" + there + "]\t\"H-" + adapter.guid + "\"[" + here + "](" + adapter.guid +
                   ") \t\t# \"" + adapter.description + "\" lid 7 2xHDR\n";
    }
  }
  for (std::size_t at = 0; at < switches.size(); ++at) {
    text += "\nvendid=0x2c9\ndevid=0xd2f0\n";
    if (!switches[at].system_image.empty())
      text += "sysimgguid=0x" + switches[at].system_image + "\n";
    text += "switchguid=0x" + switches[at].guid + "(" + switches[at].guid + ")\nSwitch\t41 \"S-" +
            switches[at].guid + "\"\t\t# \"" + switches[at].description +
            "\" enhanced port 0 lid 3 lmc 0\n" + ports[at];
  }
  return text + hosts;
}

Network fabric_of(const std::vector<FabricSwitch>& switches,
                  const std::vector<FabricAdapter>& adapters) {
  test::Scratch folder;
  test::write_file(folder / "fabric", fabric_text(switches, adapters));
  auto network = load_cluster(folder / "fabric");
  REQUIRE_MESSAGE(network, network.error().message);
  return std::move(*network);
}

std::string fabric_names(const Network& network, bool hosts) {
  std::string names;
  for (NodeId node = 0; node < network.node_count(); ++node) {
    if (network.is_host(node) == hosts) names += network.node_name(node) + "|";
  }
  return names;
}

const std::vector<FabricSwitch> kLeaf = {{"5e01", "MF0;leaf1:MQM8700/U1"}};

TEST_CASE("89 hosts whose adapters have the driver's default description stay 89 hosts") {
  std::vector<FabricAdapter> adapters;
  for (int at = 0; at < 89; ++at) {
    const std::string guid = std::to_string(0x1000 + 16 * at);
    adapters.push_back({guid, guid, "MT4123 ConnectX6   Mellanox Technologies"});
  }
  const Network network = fabric_of(kLeaf, adapters);
  CHECK(network.host_count() == 89);
  CHECK(network.node_name(0) == "H-4096");
  CHECK(network.link_count() == 2 * 89);
  CHECK(network.link(0).capacity_Bps == 12.5e9);
}

TEST_CASE("a description that several machines share does not make them one host") {
  const Network network = fabric_of(kLeaf, {{"a0", "a0", "localhost HCA-1"},
                                            {"b0", "b0", "localhost HCA-1"},
                                            {"c0", "c0", "image HCA-1"},
                                            {"d0", "d0", "image HCA-1"},
                                            {"e0", "e0", "node05 HCA-1"}});
  CHECK(fabric_names(network, true) == "H-a0|H-b0|H-c0|H-d0|node05|");
}

TEST_CASE("adapters with the system image GUID of one card are one host, unless two are named") {
  const Network network =
      fabric_of(kLeaf, {{"a0", "a0", "MT4123 ConnectX6   Mellanox Technologies"},
                        {"a1", "a0", "MT4123 ConnectX6   Mellanox Technologies"},
                        {"b0", "b0", "node02 mlx5_0"},
                        {"b1", "b0", ""},
                        {"c0", "c0", "node03 mlx5_0"},
                        {"c1", "c0", "node04 mlx5_0"}});
  CHECK(fabric_names(network, true) == "H-a0|node02|node03|node04|");
  CHECK(network.links_from(0).size() == 2);
  CHECK(network.links_from(1).size() == 2);
}

TEST_CASE("rails of one host on cards of their own are one host with a link to each switch") {
  const std::vector<FabricSwitch> rails = {{"5e01", "MF0;rail1:MQM8700/U1"},
                                           {"5e02", "MF0;rail2:MQM8700/U1"}};
  const Network network = fabric_of(rails, {{"a0", "a0", "node01 mlx5_0", {0}},
                                            {"a1", "a1", "node01 mlx5_1", {1}},
                                            {"b0", "b0", "node02 mlx5_0", {0}},
                                            {"b1", "b1", "node02 mlx5_1", {1}}});
  CHECK(fabric_names(network, true) == "node01|node02|");
  CHECK(fabric_names(network, false) == "rail1|rail2|");
  for (const char* name : {"rail1", "rail2"})
    CHECK(network.find_link(0, network.find_node(name)) != kNoId);
}

TEST_CASE("both ports of an adapter are links of its host") {
  const std::vector<FabricSwitch> switches = {{"5e01", "MF0;a:MQM8700/U1"},
                                              {"5e02", "MF0;b:MQM8700/U1"}};
  const Network network = fabric_of(
      switches, {{"a0", "a0", "node01 HCA-1", {0, 1}}, {"b0", "", "node02 HCA-1", {0, 0}}});
  CHECK(network.host_count() == 2);
  CHECK(network.links_from(0).size() == 2);
  CHECK(network.link(network.links_from(0)[1]).port == 2);
  CHECK(network.links_to(1).size() == 2);
}

TEST_CASE("what is inside a switch is no host, whatever its description") {
  const Network network = fabric_of({{"5e01", "MF0;leaf1:MQM8700/U1", "5e01"}},
                                    {{"a0", "a0", "node01 HCA-1"},
                                     {"5e09", "5e01", "SHARP of leaf1"},
                                     {"99", "99", "Mellanox Technologies Aggregation Node"}});
  CHECK(fabric_names(network, true) == "node01|");
  CHECK(network.link_count() == 2);
}

TEST_CASE("the grouped output of ibnetdiscover -g is read, with several ports to one switch") {
  test::Scratch folder;
  test::write_file(
      folder / "fabric",
      "#\n# Topology file: generated on Tue Jun  5 14:15:10 2007\n#\n"
      "# Max of 3 hops discovered\n\n"
      "Chassis 1 (guid 0x8f104004050c6)\n\n"
      "vendid=0x8f1\ndevid=0x5a06\n"
      "sysimgguid=0x8f104004050c7\t\t# Chassis 1\n"
      "switchguid=0x5442ba00003080(5442ba00003080)\t\t# Chassis 1\n"
      "Switch\t24 \"S-005442ba00003080\"\t\t# \"ISR9024 Voltaire\" base port 0 lid 6 lmc 0 line 1\n"
      "[22][ext 3]\t\"H-0008f10403961354\"[1](8f10403961355) \t\t# \"MT23108 InfiniHost Mellanox "
      "Technologies\" lid 4 4xSDR\n"
      "[8]\t\"H-0008f10403960558\"[2](8f1040396055a) \t\t# \"MT23108 InfiniHost Mellanox "
      "Technologies\" lid 14 4xSDR\n"
      "[12]\t\"H-0008f10403960558\"[1](8f10403960559) \t\t# \"MT23108 InfiniHost Mellanox "
      "Technologies\" lid 10 4xSDR\n\n"
      "Non-Chassis Nodes\n\n"
      "vendid=0x8f1\ndevid=0x5a44\ncaguid=0x8f10403961354\n"
      "Ca\t2 \"H-0008f10403961354\"\t\t# \"MT23108 InfiniHost Mellanox Technologies\"\n"
      "[1](8f10403961355) \t\"S-005442ba00003080\"[22]\t\t# lid 4 lmc 1 \"ISR9024 Voltaire\" lid 6 "
      "4xSDR\n\n"
      "vendid=0x8f1\ndevid=0x5a44\ncaguid=0x8f10403960558\n"
      "Ca\t2 \"H-0008f10403960558\"\t\t# \"MT23108 InfiniHost Mellanox Technologies\"\n"
      "[2](8f1040396055a) \t\"S-005442ba00003080\"[8]\t\t# lid 14 lmc 1 \"ISR9024 Voltaire\" lid 6 "
      "4xSDR\n"
      "[1](8f10403960559) \t\"S-005442ba00003080\"[12]\t\t# lid 10 lmc 1 \"ISR9024 Voltaire\" lid "
      "6 "
      "1xSDR\n");
  const auto network = load_cluster(folder / "fabric");
  REQUIRE_MESSAGE(network, network.error().message);
  CHECK(fabric_names(*network, true) == "H-0008f10403961354|H-0008f10403960558|");
  CHECK(fabric_names(*network, false) == "ISR9024 Voltaire|");
  CHECK(network->links_from(1).size() == 2);
  CHECK(network->links_to(1).size() == 2);
  CHECK(network->link(network->links_from(0).front()).capacity_Bps == 1e9);
  CHECK(network->link(network->links_from(1).back()).capacity_Bps == 0.25e9);
}

TEST_CASE("switches are named by their descriptions as far as these tell them apart") {
  const Network network = fabric_of({{"01", "MF0;leaf1:MQM8700/U1"},
                                     {"02", "MF0;core:MCS8500/L01/U1"},
                                     {"03", "MF0;core:MCS8500/L02/U1"},
                                     {"04", "SUN DCS 36P QDR sw-ib3 10.0.0.3"},
                                     {"05", "Quantum Mellanox Technologies"},
                                     {"06", "Voltaire 4036"},
                                     {"07", "Voltaire 4036"},
                                     {"08", "MF0;node01:MQM8700/U1"}},
                                    {{"a0", "a0", "node01 HCA-1"}});
  CHECK(fabric_names(network, false) ==
        "leaf1|core:MCS8500/L01/U1|core:MCS8500/L02/U1|SUN DCS 36P QDR sw-ib3 10.0.0.3|S-05|S-06|"
        "S-07|node01:MQM8700/U1|");
}

}  // namespace
}  // namespace fathom::simulator
