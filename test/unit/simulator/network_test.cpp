// SPDX-License-Identifier: BSD-3-Clause
// Networks and their GraphML: numbering, neighbours, and every way a file can be wrong.
#include "simulator/network/network.h"

#include <doctest/doctest.h>

#include <string>

#include "base/order/natural_order.h"
#include "simulator/formats/cluster.h"
#include "simulator/formats/graphml.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/simulator/networks.h"

namespace fathom::simulator {
namespace {

using test::Scratch;
using test::write_file;

TEST_CASE("hosts come first, whatever the order in which they were added") {
  NetworkBuilder builder("b");
  const auto top = builder.add_switch("s", 7);
  const auto one = builder.add_host("h1", 2, "00:01");
  const auto two = builder.add_host("h2", 3);
  builder.add_cable(one, top, 5, 0.1);
  builder.add_link(top, two, 6, 0, 12);
  auto network = builder.build();
  REQUIRE(network);
  CHECK(network->host_count() == 2);
  CHECK(network->switch_count() == 1);
  CHECK(network->find_node("s") == 2);
  CHECK(network->find_node("x") == kNoId);
  CHECK(network->total_slots() == 5);
  CHECK(network->mac(0) == "00:01");
  CHECK(network->mac(1).empty());
  CHECK(network->datapath(2) == 7);
  CHECK(network->links_from(2).size() == 2);
  CHECK(network->links_to(1).size() == 1);
  CHECK(network->link(network->find_link(2, 1)).port == 12);
  CHECK(network->find_link(1, 2) == kNoId);
  CHECK_FALSE(network->joins_switches(0));
}

TEST_CASE("what cannot be a network is refused by name") {
  const auto error = [](auto fill) {
    NetworkBuilder builder("b");
    const auto host = builder.add_host("h", 1), top = builder.add_switch("s");
    fill(builder, host, top);
    auto network = builder.build();
    return network ? std::string() : network.error().message;
  };
  using Builder = NetworkBuilder;
  CHECK(error([](Builder& b, auto, auto) { b.add_host("h", 1); }) ==
        "there are two nodes named 'h'");
  CHECK(error([](Builder& b, auto, auto) { b.add_host("x", 0); }).find("host 'x' has no slots") ==
        0);
  CHECK(error([](Builder& b, auto h, auto s) { b.add_link(h, s, 0, 0); }) ==
        "the link from 'h' to 's' has a capacity that is not above zero");
  CHECK(error([](Builder& b, auto h, auto s) { b.add_link(h, s, 1, -1); }) ==
        "the link from 'h' to 's' has a latency below zero");
  CHECK(error([](Builder& b, auto h, auto) { b.add_link(h, h, 1, 0); }) ==
        "the link from 'h' to 'h' ends where it begins");
  NetworkBuilder empty("empty");
  CHECK(empty.build().error().message == "the network has no host");
}

TEST_CASE("GraphML is written and read back as the same network") {
  Scratch folder;
  NetworkBuilder builder("a <b> & \"c\"");
  const auto top = builder.add_switch("s&1", 3);
  builder.add_link(builder.add_host("h<1>", 4, "aa:bb"), top, 1.25e9, 1e-6);
  builder.add_link(top, 1, 0.1, 0, 9);
  auto network = builder.build();
  REQUIRE(network);
  LinkUse use(*network);
  use.bytes[0] = 17;
  REQUIRE(write_graphml(*network, folder / "n.graphml", &use));
  CHECK(test::contents(folder / "n.graphml").find("<data key=\"traffic\">17</data>") !=
        std::string::npos);
  const auto again = read_graphml(folder / "n.graphml");
  REQUIRE_MESSAGE(again, again.error().message);
  CHECK(again->name() == network->name());
  CHECK(again->node_name(0) == "h<1>");
  CHECK(again->node_name(1) == "s&1");
  CHECK(again->slots(0) == 4);
  CHECK(again->mac(0) == "aa:bb");
  CHECK(again->datapath(1) == 3);
  REQUIRE(again->link_count() == 2);
  CHECK(again->link(0).capacity_Bps == 1.25e9);
  CHECK(again->link(0).latency_s == 1e-6);
  CHECK(again->link(0).port == kNoPort);
  CHECK(again->link(1).capacity_Bps == 0.1);
  CHECK(again->link(1).port == 9);
}

TEST_CASE("grids are written and read back as grids") {
  Scratch folder;
  for (const std::string cluster :
       {"torus:dims=3,4", "mesh:dims=2,3,2;hosts=2", "hyperx:dims=3,3", "torus:dims=5"}) {
    const auto network = load_cluster(cluster);
    REQUIRE(network);
    REQUIRE(write_graphml(*network, folder / "g.graphml"));
    const auto again = read_graphml(folder / "g.graphml");
    REQUIRE_MESSAGE(again, again.error().message);
    REQUIRE(again->grid() != nullptr);
    CHECK(again->grid()->kind == network->grid()->kind);
    CHECK(again->grid()->extent == network->grid()->extent);
    CHECK(again->grid()->stride == network->grid()->stride);
  }
  std::string text = test::contents(folder / "g.graphml");
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string wrong = text;
    wrong.replace(wrong.find(from), from.size(), to);
    test::write_file(folder / "w.graphml", wrong);
    const auto network = read_graphml(folder / "w.graphml");
    REQUIRE_FALSE(network);
    return network.error().message;
  };
  CHECK(refusal(">torus<", ">ring<").find("there is no grid 'ring'; there are mesh, torus") !=
        std::string::npos);
  CHECK(refusal("coordinates\">3<", "coordinates\">4<").find("must be listed in their order") !=
        std::string::npos);
  CHECK(refusal("coordinates\">3<", "coordinates\">three<").find("need coordinates") !=
        std::string::npos);
}

TEST_CASE("a grid's switches are written with their coordinates") {
  Scratch folder;
  const auto torus = load_cluster("torus:dims=2,3");
  REQUIRE(torus);
  REQUIRE(write_graphml(*torus, folder / "t.graphml"));
  CHECK(test::contents(folder / "t.graphml")
            .find("<node id=\"s1.2\"><data key=\"typ\">switch</data><data "
                  "key=\"coordinates\">1,2</data>") != std::string::npos);
}

constexpr char kKeys[] =
    "<graphml><key id='t' for='node' attr.name='typ'/><key id='c' for='node' attr.name='capacity'/>"
    "<key id='e' for='edge' attr.name='capacity'/><key id='l' for='edge' attr.name='latency'/>\n";
constexpr char kNodes[] =
    "<node id='h'><data key='t'>host</data><data key='c'>1</data></node>\n"
    "<node id='s'><data key='t'>switch</data></node>\n";

std::string graph(const std::string& content, const char* direction = "directed") {
  return std::string(kKeys) + "<graph edgedefault='" + direction + "'>\n" + kNodes + content +
         "</graph></graphml>";
}

TEST_CASE("an undirected edge is two links") {
  Scratch folder;
  write_file(folder / "g",
             graph("<edge source='h' target='s'><data key='e'>2</data></edge>", "undirected"));
  const auto network = read_graphml(folder / "g");
  REQUIRE_MESSAGE(network, network.error().message);
  CHECK(network->link_count() == 2);
  CHECK(network->find_link(1, 0) != kNoId);
}

TEST_CASE("each defect in a GraphML file gives one sentence with file and line") {
  Scratch folder;
  const std::string path = folder / "g";
  const auto error = [&](const std::string& text) {
    write_file(path, text);
    auto network = read_graphml(path);
    REQUIRE_FALSE(network);
    return network.error().message;
  };
  CHECK(read_graphml(folder / "absent").error().message.find("absent: cannot be read") !=
        std::string::npos);
  CHECK(read_graphml(folder.path()).error().message.find("Is a directory") != std::string::npos);
  CHECK(error("<graphml><graph>").find(path + ":1: ") == 0);
  CHECK(error("<html/>").find(path + ":1: is not GraphML") == 0);
  CHECK(error(graph("<node id='x'/>")) ==
        path + ":5: node 'x' has no typ; give each node a data key 'typ' of 'host' or 'switch'");
  CHECK(error(graph("<node id='x'><data key='t'>hub</data></node>"))
            .find(":5: node 'x' is of typ 'hub'") != std::string::npos);
  CHECK(error(graph("<node id='h'/>")) == path + ":5: node 'h' is defined twice");
  CHECK(error(graph("<node id='x'><data key='t'>host</data></node>")).find("has no capacity") !=
        std::string::npos);
  for (const char* slots : {"0", "-1", "1.5", "many", "1e99", "nan", ""}) {
    CAPTURE(slots);
    CHECK(error(graph(std::string("<node id='x'><data key='t'>host</data><data key='c'>") + slots +
                      "</data></node>"))
              .find(path + ":5: the capacity of node 'x' is ") == 0);
  }
  CHECK(error(graph("<edge source='h' target='y'/>")) ==
        path + ":5: the edge's target 'y' is not a node of the graph");
  CHECK(error(graph("<edge source='h' target='h'/>")).find("ends where it begins") !=
        std::string::npos);
  CHECK(error(graph("<edge source='h' target='s'/>")) ==
        path + ":5: the edge from 'h' to 's' has no capacity");
  CHECK(error(graph("<edge source='h' target='s'><data key='e'>0</data></edge>")) ==
        path + ":5: the capacity of the edge from 'h' to 's' is 0; it must be above zero");
  CHECK(
      error(
          graph("<edge source='h' target='s'><data key='e'>1</data><data key='l'>-1</data></edge>"))
          .find("latency") != std::string::npos);
  CHECK(error("<graphml><graph/></graphml>") == path + ": the network has no host");
}

TEST_CASE("names are sorted in natural order") {
  CHECK(base::natural_less("core2", "core10"));
  CHECK_FALSE(base::natural_less("core10", "core2"));
  CHECK(base::natural_less("a", "a1"));
  CHECK(base::natural_less("s1.9.2", "s1.10.1"));
  CHECK(base::natural_less("a01", "a1"));
  CHECK_FALSE(base::natural_less("a1", "a01"));
  CHECK_FALSE(base::natural_less("x", "x"));
}

}  // namespace
}  // namespace fathom::simulator
