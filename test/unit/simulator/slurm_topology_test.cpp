// SPDX-License-Identifier: BSD-3-Clause
// topology.conf as Slurm's own parser takes it, blocks, topology.yaml, and files of no known format.
#include <doctest/doctest.h>

#include <string>

#include "simulator/formats/cluster.h"
#include "test/unit/base/scratch_folder.h"

namespace fathom::simulator {
namespace {

base::Result<Network> slurm_result(const std::string& text) {
  test::Scratch folder;
  test::write_file(folder / "file", text);
  auto network = load_cluster(folder / "file", {2, 5.0, 1e-6, {}});
  if (network) return network;
  return base::Error{network.error().message.substr((folder / "file:").size())};
}

// Cables as "child-parent" in the order of the links, and single hosts' names.
std::string slurm_cables(const std::string& text) {
  const auto network = slurm_result(text);
  REQUIRE_MESSAGE(network, network.error().message);
  std::string cables;
  for (LinkId link = 0; link < network->link_count(); link += 2) {
    cables += network->node_name(network->link(link).source) + ">" +
              network->node_name(network->link(link).target) + " ";
  }
  return cables;
}

TEST_CASE("a topology.conf in any case, with continued lines, quotes and blanks is read") {
  const std::string plain = "n0>s0 n1>s0 n2>s1 s0>top s1>top ";
  CHECK(slurm_cables("SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n2\n"
                     "SwitchName=top Switches=s[0-1]\n") == plain);
  CHECK(slurm_cables("# all in capitals\nSWITCHNAME=s0 NODES=n[0-1] LINKSPEED=10\n"
                     "switchname=s1 nodes=n2\nSwitchname=top switches=s[0-1]\n") == plain);
  CHECK(
      slurm_cables("SwitchName=s0 \\\n   Nodes=n[0-1]\nSwitchName=s1 Nodes=\\\n  n2  \nSwitchName="
                   "top \\\n \\\n Switches=s[0-1]") == plain);
  CHECK(slurm_cables("SwitchName = s0 Nodes = \"n[0-1]\"\nSwitchName=\"s1\"  Nodes=n2\r\n"
                     "Nodes=\"\" SwitchName=top Switches =\"s0,s1\" # the top\n") == plain);
}

TEST_CASE("an error in a continued line names its first line") {
  CHECK(
      slurm_result("SwitchName=s0 Nodes=n0\nSwitchName=s1 \\\n Switches=none\n").error().message ==
      "2: there is no switch 'none'");
}

TEST_CASE("blocks become switches that larger blocks and the top join") {
  const std::string blocks =
      "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\n"
      "BlockName=b3 Nodes=n[5-6]\nBLOCKNAME=b4 nodes=n[7-8]\n";
  const std::string hosts = "n1>b1 n2>b1 n3>b2 n4>b2 n5>b3 n6>b3 n7>b4 n8>b4 ";
  CHECK(slurm_cables(blocks) == hosts + "b1>blocks b2>blocks b3>blocks b4>blocks ");
  CHECK(slurm_cables(blocks + "BlockSizes=2,4\n") ==
        hosts + "b1>b1-b2 b2>b1-b2 b3>b3-b4 b4>b3-b4 b1-b2>blocks b3-b4>blocks ");
  CHECK(slurm_cables(blocks + "BlockSizes=2,8\n") ==
        hosts + "b1>blocks b2>blocks b3>blocks b4>blocks ");
  CHECK(slurm_cables("BlockSizes=30\nBlockName=b1 Nodes=n1\n") == "n1>b1 ");
  CHECK(slurm_cables("BlockName=a Nodes=n1\nBlockName=b Nodes=n2\nBlockName=c Nodes=n3\n"
                     "BlockSizes=1,2\n") == "n1>a n2>b n3>c a>a-b b>a-b a-b>blocks c>blocks ");
}

TEST_CASE("errors in blocks name the line") {
  const auto message = [](const std::string& text) { return slurm_result(text).error().message; };
  CHECK(message("BlockName=a Nodes=n1\nBlockSizes=2,6\n") ==
        "2: block size 6 is not 2, 4, 8, … times 2");
  CHECK(message("BlockName=a Nodes=n1\nBlockSizes=0\n") ==
        "2: block size '0' is not a whole number above zero");
  CHECK(message("BlockName=a Nodes=n1\nSwitchName=s Nodes=n2\n") ==
        "2: a file has either switches or blocks");
  CHECK(message("BlockName=a Switches=b\n") == "1: a block has nodes, no switches");
  CHECK(message("SwitchName=s Nodes=n1\nBlockName=a Nodes=n2\n") ==
        "2: a file has either switches or blocks");
}

constexpr char kTwoTopologies[] =
    "---\n"
    "- topology: spare\n"
    "  cluster_default: false\n"
    "  flat: true\n"
    "- topology: blocks\n"
    "  block:\n"
    "    block_sizes:\n"
    "      - 1\n"
    "      - 2\n"
    "    blocks:\n"
    "      - block: b1\n"
    "        nodes: n1\n"
    "      - block: b2\n"
    "        nodes: n2\n"
    "      - block: b3\n"
    "        nodes: n3\n";

TEST_CASE("the default topology of a topology.yaml is read, or the first that names hosts") {
  CHECK(slurm_cables(kTwoTopologies) ==
        "n1>b1 n2>b2 n3>b3 b1>b1-b2 b2>b1-b2 b1-b2>blocks b3>blocks ");
  CHECK(slurm_cables(std::string(kTwoTopologies) +
                     "- topology: tree\n  cluster_default: True\n  tree:\n    switches:\n"
                     "      - switch: top\n        children: s[0-1]\n"
                     "      - switch: s0\n        nodes: n[1-2]\n"
                     "      - {switch: s1, nodes: n3}\n") == "s0>top s1>top n1>s0 n2>s0 n3>s1 ");
}

TEST_CASE("errors in a topology.yaml name the line") {
  const auto message = [](const std::string& text) { return slurm_result(text).error().message; };
  CHECK(message("- topology: a\n  flat: true\n") ==
        " has no topology of kind tree or block, which can be read");
  CHECK(message("- topology: a\n  tree:\n    switches:\n      - nodes: n1\n") ==
        "4: the switch has no name");
  CHECK(message("- topology: a\n  tree:\n    switches:\n      - switch: s\n        nodes: n[1\n") ==
        "4: 'n[1': '[' without ']'");
  CHECK(message("- topology: [\n").find("2: ") == 0);
  CHECK(message("- topology: a\n  cluster_default: perhaps\n  tree: {}\n").find("2: ") == 0);
}

TEST_CASE("a file that is nothing known is called that, with the formats that are") {
  const std::string known =
      "; GraphML, SimGrid platforms, Slurm's topology.conf and topology.yaml, and the output of "
      "ibnetdiscover can be read";
  const auto message = [](const std::string& text) { return slurm_result(text).error().message; };
  CHECK(message("") == " is not a description of a cluster" + known);
  CHECK(message("anything\n") == " is not a description of a cluster" + known);
  CHECK(message("# only a comment\n") == " is not a description of a cluster" + known);
  CHECK(message(std::string("\x7f"
                            "ELF\0\1",
                            6)) == " is not a description of a cluster" + known);
  CHECK(message("Name=value\n") == " is not a description of a cluster" + known);
  CHECK(message("<html><body/></html>") ==
        " is not a description of a cluster (XML that begins with 'html')" + known);
  CHECK(message("<topology version='2.0'/>") ==
        " is not a description of a cluster, but hwloc's description of one machine, which --node "
        "takes" +
            known);
}

}  // namespace
}  // namespace fathom::simulator
