// SPDX-License-Identifier: BSD-3-Clause
// SimGrid's platform files: what becomes a link, and what is refused. test/simulator compares the
// routes' latencies and bandwidths with SimGrid's own.
#include <doctest/doctest.h>

#include <string>

#include "simulator/formats/cluster.h"
#include "simulator/formats/media_graph.h"
#include "simulator/formats/simgrid_values.h"
#include "test/unit/base/scratch_folder.h"

namespace fathom::simulator {
namespace {

using test::Scratch;
using test::write_file;

std::string platform(const std::string& inside) {
  return "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n" +
         inside + "\n</platform>\n";
}

base::Result<Network> read_platform(const std::string& text) {
  Scratch folder;
  write_file(folder / "p.xml", text);
  auto network = load_cluster(folder / "p.xml", {3, 5.0, 1e-6, {}});
  if (network) return network;
  const std::string message = network.error().message;
  const std::size_t at = message.find("p.xml:");
  return base::Error{at == std::string::npos ? message : message.substr(at + 6)};
}

Network platform_network(const std::string& inside) {
  auto network = read_platform(platform(inside));
  REQUIRE_MESSAGE(network, network.error().message);
  return std::move(*network);
}

TEST_CASE("SimGrid's values and units are read") {
  CHECK(*simgrid_bandwidth_Bps("1.25GBps") == 1.25e9);
  CHECK(*simgrid_bandwidth_Bps("10Gbps") == 1.25e9);
  CHECK(*simgrid_bandwidth_Bps("1MiBps") == 1048576);
  CHECK(*simgrid_bandwidth_Bps(" 1.25E8 ") == 1.25e8);
  CHECK(*simgrid_time_s("50us") == doctest::Approx(5e-5));
  CHECK(*simgrid_time_s("2.4E-5s") == 2.4e-5);
  CHECK(*simgrid_time_s("3m") == 180);
  CHECK(*simgrid_radical("0-2,7") == std::vector<std::uint32_t>{0, 1, 2, 7});
  for (const char* wrong : {"", "fast", "1GBpm", "GBps", "inf", "1 2"})
    CHECK_FALSE(simgrid_bandwidth_Bps(wrong));
  for (const char* wrong : {"", "1lightyear", "soon"}) CHECK_FALSE(simgrid_time_s(wrong));
  for (const char* wrong : {"", "3-1", "a-b", "0-99999999", "-3"})
    CHECK_FALSE(simgrid_radical(wrong));
  for (const char* wrong : {"", "2;0", "2;x"}) CHECK_FALSE(simgrid_parameters(wrong));
}

TEST_CASE("a cluster is a star with two links for each host and as many slots as cores") {
  const Network network = platform_network(
      "<zone id='z' routing='Full'><cluster id='c' prefix='n' suffix='.x' radical='0-3' "
      "speed='1f' core='8' bw='1GBps' lat='2us'/></zone>");
  CHECK(network.host_count() == 4);
  CHECK(network.switch_count() == 1);
  CHECK(network.link_count() == 8);
  CHECK(network.slots(0) == 8);
  const NodeId router = network.find_node("nc_router.x");
  REQUIRE(router != kNoId);
  const LinkId up = network.find_link(network.find_node("n2.x"), router);
  REQUIRE(up != kNoId);
  CHECK(network.link(up).capacity_Bps == 1e9);
  CHECK(network.link(up).latency_s == 2e-6);
}

// Contracted one arm at a time, as it once was, this takes minutes.
TEST_CASE("a cluster of 20,000 hosts is read as quickly as it is written") {
  const Network network = platform_network(
      "<zone id='z' routing='Full'><cluster id='c' prefix='n' suffix='' radical='0-19999' "
      "speed='1f' bw='1GBps' "
      "lat='2us' bb_bw='100GBps' bb_lat='1us'/></zone>");
  CHECK(network.host_count() == 20000);
  CHECK(network.link_count() == 2 * 20000 + 2);  // the backbone, and what leads back into it
}

TEST_CASE("a half-duplex link carries both directions") {
  const Network network = platform_network(
      "<zone id='z' routing='Full'><host id='a' speed='1f'/><host id='b' speed='1f'/>"
      "<link id='l' bandwidth='100' latency='1'/><route src='a' dst='b'><link_ctn "
      "id='l'/></route></zone>");
  CHECK(network.slots(0) == 3);
  const LinkId medium = network.find_link(network.find_node("l.in"), network.find_node("l.out"));
  REQUIRE(medium != kNoId);
  CHECK(network.link(medium).capacity_Bps == 100);
  CHECK(network.link_count() == 5);  // and from each host in, and to each out
}

TEST_CASE("a dragonfly with several chassis has links by kind, as wide as their number") {
  const Network network = platform_network(
      "<zone id='z' routing='Full'><cluster id='c' prefix='n' suffix='' radical='0-35' speed='1f' "
      "bw='10' lat='1' topology='DRAGONFLY' topo_parameters='3,4;2,3;3,1;2'/></zone>");
  CHECK(network.switch_count() == 18);
  CHECK(network.link_count() == 2 * (36 + 6 * 3 + 3 * 3 + 3));
  const auto width = [&](const char* one, const char* other) {
    const LinkId link = network.find_link(network.find_node(one), network.find_node(other));
    return link == kNoId ? 0 : network.link(link).capacity_Bps;
  };
  CHECK(width("c.r1.0.0", "c.r1.0.2") == 10);  // of a chassis
  CHECK(width("c.r1.0.2", "c.r1.1.2") == 30);  // of a group
  CHECK(width("c.r0.0.2", "c.r2.0.0") == 40);  // between groups
  CHECK(width("c.r0.0.0", "c.r2.0.0") == 0);
}

TEST_CASE(
    "a torus has coordinates, the first varying fastest, unless the platform holds more than it") {
  const std::string torus =
      "<zone id='z' routing='Full'><cluster id='c' prefix='n' suffix='' radical='0-11' speed='1f' "
      "bw='10' lat='1' "
      "topology='TORUS' topo_parameters='4,3'/>";
  const Network alone = platform_network(torus + "</zone>");
  REQUIRE(alone.grid() != nullptr);
  CHECK(alone.grid()->kind == Grid::Kind::kTorus);
  CHECK(alone.grid()->extent == std::vector<std::uint32_t>{4, 3});
  CHECK(alone.grid()->stride == std::vector<std::uint32_t>{1, 4});
  CHECK(platform_network(torus + "<router id='r'/></zone>").grid() == nullptr);
}

TEST_CASE("errors in a platform name the line") {
  const auto error = [](const std::string& inside) {
    const auto network = read_platform(platform(inside));
    REQUIRE_FALSE(network);
    return network.error().message;
  };
  const std::string two =
      "<zone id='z' routing='Full'>\n<host id='a' speed='1f'/><host id='b' speed='1f'/>\n";
  const std::string link = "<link id='l' bandwidth='1kBps' latency='0'/>\n";
  CHECK(error("<zone id='z' routing='Vivaldi'/>")
            .find("4: zone 'z' has routing 'Vivaldi'; Full, Floyd") == 0);
  CHECK(error(two + "<peer id='p'/></zone>").find("6: 'peer' cannot be read") == 0);
  CHECK(error(two + "<bypassRoute src='a' dst='b'/></zone>")
            .find("6: 'bypassRoute' cannot be read") == 0);
  CHECK(error(two + "<host id='a' speed='1f'/></zone>") == "6: 'a' is defined twice");
  CHECK(error(two + "<host id='c' speed='1f' core='none'/></zone>")
            .find("6: host 'c' has core 'none'") == 0);
  CHECK(error(two + link + link + "</zone>") == "7: link 'l' is defined twice");
  CHECK(error(two + "<link id='l' bandwidth='fast' latency='0'/></zone>")
            .find("6: link 'l', bandwidth: 'fast' is not a bandwidth") == 0);
  CHECK(error(two + "<link id='l' bandwidth='1' sharing_policy='WIFI'/></zone>")
            .find("6: 'l' has sharing policy 'WIFI'; the policies are") == 0);
  CHECK(error(two + "<route src='a' dst='c'/></zone>") == "6: there is no host and no router 'c'");
  CHECK(error(two + "<route src='a' dst='b'><link_ctn id='l'/></route></zone>") ==
        "6: there is no link 'l'");
  CHECK(error(two + "<link id='l' bandwidth='1' sharing_policy='SPLITDUPLEX'/>\n<route src='a' "
                    "dst='b'><link_ctn id='l'/></route></zone>")
            .find("7: link 'l' is SPLITDUPLEX; say in which direction") == 0);
  CHECK(error(two + "<zoneRoute src='x' dst='z' gw_src='a' gw_dst='b'/></zone>") ==
        "6: there is no zone 'x'");
  CHECK(error("<zone id='z' routing='Full'><cluster id='c' prefix='' suffix='' radical='0-3' "
              "bw='1' lat='0' "
              "topology='TORUS' topo_parameters='2,3'/></zone>")
            .find("4: cluster 'c': topo_parameters '2,3' describe 6 hosts; radical names 4") == 0);
  CHECK(error("<zone id='z' routing='Full'><cluster id='c' prefix='' suffix='' radical='0-3' "
              "bw='1' lat='0' "
              "topology='RING' topo_parameters='4'/></zone>")
            .find("4: there is no topology 'RING'; there are FLAT") == 0);
  CHECK(error("<zone id='z' routing='Full'><cabinet id='c' prefix='' suffix='' radical='0' bw='1' "
              "lat='0'/></zone>")
            .find("4: a cabinet must be in a zone") == 0);
  CHECK(error("<zone id='z' routing='None'/>").find("the network has no host") !=
        std::string::npos);
}

TEST_CASE("a route that is not a shortest path is refused, because no router would take it") {
  std::string text = "<zone id='z' routing='Full'>";
  for (const char* host : {"a", "b", "c"})
    text += std::string("<host id='") + host + "' speed='1f'/><router id='r" + host + "'/>";
  for (const char* id : {"la", "lb", "lc", "ab", "bc", "ac"})
    text += std::string("<link id='") + id +
            "' bandwidth='1' latency='0' sharing_policy='SPLITDUPLEX'/>";
  const auto route = [](const char* from, const char* to,
                        std::initializer_list<std::pair<const char*, const char*>> links) {
    std::string part = std::string("<route src='") + from + "' dst='" + to + "'>";
    for (const auto& [id, direction] : links)
      part += std::string("<link_ctn id='") + id + "' direction='" + direction + "'/>";
    return part + "</route>";
  };
  text += route("a", "ra", {{"la", "UP"}}) + route("b", "rb", {{"lb", "UP"}}) +
          route("c", "rc", {{"lc", "UP"}});
  text += route("ra", "rb", {{"ab", "UP"}}) + route("rb", "rc", {{"bc", "UP"}});
  CHECK(read_platform(
      platform(text + route("a", "c", {{"la", "UP"}, {"ab", "UP"}, {"bc", "UP"}, {"lc", "DOWN"}}) +
               "</zone>")));
  const auto detour = read_platform(platform(
      text + route("ra", "rc", {{"ac", "UP"}}) +
      route("a", "c", {{"la", "UP"}, {"ab", "UP"}, {"bc", "UP"}, {"lc", "DOWN"}}) + "</zone>"));
  REQUIRE_FALSE(detour);
  CHECK(detour.error().message.find("the route from 'a' to 'c' has more links than another path") !=
        std::string::npos);
}

}  // namespace
}  // namespace fathom::simulator
