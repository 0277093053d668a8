// SPDX-License-Identifier: BSD-3-Clause
// SimGrid's platform files: what becomes a link, and what is refused. test/simulator compares the
// routes' latencies and bandwidths with SimGrid's own.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simulator/formats/cluster.h"
#include "simulator/formats/media_graph.h"
#include "simulator/formats/node_topology.h"
#include "simulator/formats/simgrid_values.h"
#include "simulator/network/failures.h"
#include "simulator/network/given_routes.h"
#include "simulator/routing/registry.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/simulator/networks.h"

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
  CHECK(error("<actor host='a' function='f'/>").find("4: this is a deployment") == 0);
  CHECK(error(two + "<peer id='p'/></zone>").find("6: 'peer' cannot be read") == 0);
  CHECK(error(two + "<bypassRoute src='a' dst='c'/></zone>") ==
        "6: there is no host and no router 'c'");
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

// The links of the route that the platform gives, as "from>to …" with the names of the nodes; "none"
// if it gives none.
std::string given_route(const Network& network, const char* from, const char* to) {
  std::vector<LinkId> links;
  REQUIRE(network.given_routes());
  if (!network.given_routes()->append(network.find_node(from), network.find_node(to), links))
    return "none";
  NodeId at = network.find_node(from);
  for (const LinkId link : links) {  // a path, from end to end
    REQUIRE(network.link(link).source == at);
    at = network.link(link).target;
  }
  CHECK(at == network.find_node(to));
  std::string capacities;
  for (const LinkId link : links)
    capacities += std::to_string(static_cast<int>(network.link(link).capacity_Bps)) + " ";
  return capacities;
}

std::string platform_link(const char* id, int bandwidth) {
  return std::string("<link id='") + id + "' bandwidth='" + std::to_string(bandwidth) +
         "' latency='0'/>";
}

std::string platform_route(const char* from, const char* to, std::vector<const char*> links,
                           const char* element = "route") {
  std::string text = std::string("<") + element + " src='" + from + "' dst='" + to + "'>";
  for (const char* link : links) text += std::string("<link_ctn id='") + link + "'/>";
  return text + "</" + element + ">";
}

TEST_CASE("a route that is not a shortest path is taken as it is given") {
  const Network network = platform_network(
      "<zone id='z' routing='Full'><host id='a' speed='1f'/><host id='b' speed='1f'/>"
      "<host id='c' speed='1f'/>" +
      platform_link("ab", 10) + platform_link("bc", 20) + platform_link("ac", 30) +
      platform_route("a", "b", {"ab"}) + platform_route("b", "c", {"bc"}) +
      platform_route("a", "c", {"ab", "ac", "bc"}) + "</zone>");
  CHECK(given_route(network, "a", "b").find("10") == 0);
  const std::string detour = given_route(network, "a", "c");
  for (const char* capacity : {"10 ", "20 ", "30 "})
    CHECK(detour.find(capacity) != std::string::npos);
  CHECK(&default_router(network) == *find_router("given"));
  auto router = (*find_router("given"))->make(network, {});
  REQUIRE(router);
  RouteTable table(1);
  const std::vector<Demand> demands = {{0, 2, 1, 1, 0}};
  REQUIRE((*router)->route(demands, LinkUse(network), table));
  double slowest = 1e9;
  for (const LinkId link : table.way(0))
    slowest = std::min(slowest, network.link(link).capacity_Bps);
  CHECK(slowest == 10);
}

TEST_CASE("routing 'given' needs a platform, and a route for each pair that communicates") {
  const Network torus = test::network_of("torus:dims=3,3");
  CHECK((*find_router("given"))->make(torus, {}).error().message ==
        "'torus:dims=3,3' prescribes no routes for routing 'given' to follow; choose another "
        "routing, or give a "
        "SimGrid platform");
  CHECK(&default_router(torus) == *find_router("dmodk"));
  const Network network = platform_network(
      "<zone id='z' routing='Full'><host id='a' speed='1f'/><host id='b' speed='1f'/>"
      "<host id='c' speed='1f'/>" +
      platform_link("l", 10) + platform_route("a", "b", {"l"}) + "</zone>");
  CHECK(given_route(network, "a", "c") == "none");
  RouteTable table(1);
  const std::vector<Demand> demands = {{0, 2, 1, 1, 0}};
  auto router = (*find_router("given"))->make(network, {});
  CHECK((*router)
            ->route(demands, LinkUse(network), table)
            .error()
            .message.find("gives no route from 'a' to 'c'") != std::string::npos);
}

TEST_CASE("a bypass route replaces one direction of the route, also between zones") {
  const std::string hosts = "<host id='a' speed='1f'/><host id='b' speed='1f'/>";
  const Network network =
      platform_network("<zone id='z' routing='Full'>" + hosts + platform_link("l", 10) +
                       platform_link("by", 20) + platform_route("a", "b", {"l"}) +
                       platform_route("a", "b", {"by"}, "bypassRoute") + "</zone>");
  CHECK(given_route(network, "a", "b").find("20") != std::string::npos);
  CHECK(given_route(network, "b", "a").find("10") != std::string::npos);
  const auto zone = [](const char* id, const char* host) {
    return std::string("<zone id='") + id + "' routing='None'><host id='" + host +
           "' speed='1f'/></zone>";
  };
  const auto between = [](const char* element, const char* link) {
    return std::string("<") + element + " src='x' dst='y' gw_src='a' gw_dst='b'><link_ctn id='" +
           link + "'/></" + element + ">";
  };
  const Network zones =
      platform_network("<zone id='z' routing='Full'>" + zone("x", "a") + zone("y", "b") +
                       platform_link("l", 10) + platform_link("by", 20) +
                       between("zoneRoute", "l") + between("bypassZoneRoute", "by") + "</zone>");
  CHECK(given_route(zones, "a", "b").find("20") != std::string::npos);
  CHECK(given_route(zones, "b", "a").find("10") != std::string::npos);
}

TEST_CASE("the links of a host in a star may be defined after it, and routing names in any case") {
  const Network network = platform_network(
      "<zone id='z' routing='cluster'><host id='a' speed='1f'/><host id='b' speed='1f'/>"
      "<host_link id='a' up='u' down='d'/><host_link id='b' up='u' down='d'/>" +
      platform_link("u", 10) + platform_link("d", 20) + "</zone>");
  CHECK(given_route(network, "a", "b").find("10") == 0);
  CHECK(given_route(network, "a", "b").find("20") != std::string::npos);
}

TEST_CASE("a limiter of a torus is crossed once by what a host sends, forwards or receives") {
  const Network network = platform_network(
      "<zone id='z' routing='Full'><cluster id='c' prefix='n' suffix='' radical='0-3' speed='1f' "
      "bw='10' lat='0' limiter_link='7' topology='TORUS' topo_parameters='4'/></zone>");
  const std::string route = given_route(network, "n0", "n2");
  CHECK(route.find(" 7 10 7 10 7 ") != std::string::npos);
}

TEST_CASE("a medium that routes leave to where it begins is still crossed") {
  // Everything goes from r over 'loop' back to r: contraction joins the ends of the medium.
  const Network network = platform_network(
      "<zone id='z' routing='Full'><host id='a' speed='1f'/><host id='b' speed='1f'/>" +
      platform_link("in", 10) + platform_link("loop", 3) + platform_link("out", 20) +
      "<route src='a' dst='b' symmetrical='NO'><link_ctn id='in'/><link_ctn id='loop'/>"
      "<link_ctn id='loop'/><link_ctn id='out'/></route></zone>");
  const std::string route = given_route(network, "a", "b");
  CHECK(std::count(route.begin(), route.end(), '3') >= 2);
}

TEST_CASE("prescribed routes lead from domain to domain inside machines") {
  test::Scratch folder;
  test::write_file(folder / "p.xml",
                   platform("<zone id='z' routing='Full'><host id='a' speed='1f'/>"
                            "<host id='b' speed='1f'/>" +
                            platform_link("ab", 10) + platform_link("by", 20) +
                            platform_route("a", "b", {"ab", "by", "ab"}) + "</zone>"));
  const auto network = load_cluster(folder / "p.xml");
  REQUIRE(network);
  // Two sockets of two domains: four domains for each machine.
  const NodeTopology node{2, {{0, 0, 4}, {0, 4, 4}, {1, 8, 4}, {1, 12, 4}}};
  const auto divided = with_nodes(*network, node, 1000, 0);
  REQUIRE(divided);
  const std::string way = given_route(*divided, "a/numa1", "b/numa3");
  CHECK(way.find("1000 1000 10 ") == 0);
  CHECK(way.rfind(" 10 1000 1000 ") == way.size() - 14);
  CHECK(given_route(*divided, "a/numa0", "a/numa1") == "1000 1000 ");
  CHECK(given_route(*divided, "a/numa0", "a/numa2") == "1000 1000 1000 1000 ");
  const NodeTopology single{1, {{0, 0, 4}}};
  CHECK(given_route(*with_nodes(*network, single, 1000, 0), "a", "b").find("10 ") == 0);
}

TEST_CASE("where cables have failed, no route is prescribed any more") {
  const Network network = platform_network(
      "<zone id='z' routing='Full'><host id='a' speed='1f'/><host id='b' speed='1f'/>" +
      platform_link("l", 10) + platform_route("a", "b", {"l"}) + "</zone>");
  const std::vector<LinkId> failed = {0};
  const auto left = without_links(network, failed);
  REQUIRE(left);
  CHECK(left->given_routes() == nullptr);
}

TEST_CASE("what a gateway host itself sends is not limited by its being a gateway") {
  const auto zone = [](const char* id, const char* host) {
    return std::string("<zone id='") + id + "' routing='None'><host id='" + host +
           "' speed='1f'/></zone>";
  };
  const Network network = platform_network(
      "<zone id='z' routing='Full'>" + zone("x", "a") + zone("y", "b") +
      "<link id='l' bandwidth='100' latency='0' sharing_policy='FATPIPE'/>"
      "<zoneRoute src='x' dst='y' gw_src='a' gw_dst='b'><link_ctn id='l'/></zoneRoute></zone>");
  std::vector<LinkId> links;
  REQUIRE(network.given_routes()->append(0, 1, links));
  for (const LinkId link : links) CHECK(network.link(link).capacity_Bps >= 100);
}

TEST_CASE("zones may be nested 100,000 deep") {
  constexpr int kDepth = 100000;
  std::string text = "<?xml version='1.0'?><platform version='4.1'>";
  for (int at = 0; at < kDepth; ++at)
    text += "<zone id='z" + std::to_string(at) + "' routing='Full'>";
  text += "<host id='a' speed='1f'/><host id='b' speed='1f'/>" + platform_link("l", 10) +
          platform_route("a", "b", {"l"});
  for (int at = 0; at < kDepth; ++at) text += "</zone>";
  const auto network = read_platform(text + "</platform>");
  REQUIRE_MESSAGE(network, network.error().message);
  CHECK(given_route(*network, "a", "b").find("10") == 0);
}

}  // namespace
}  // namespace fathom::simulator
