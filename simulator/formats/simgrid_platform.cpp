// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/simgrid_platform.h"

#include <strings.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/xml_file.h"
#include "simulator/formats/simgrid_cluster.h"
#include "simulator/formats/simgrid_values.h"
#include "simulator/formats/simgrid_zones.h"

namespace fathom::simulator {
namespace {

using Node = MediaGraph::Node;
using Xml = pugi::xml_node;

using Point = SimgridZones::Point;
using Zone = SimgridZones::Zone;
using Way = MediaGraph::Way;

constexpr std::string_view kIgnored[] = {"prop",          "config", "disk",     "storage",
                                         "storage_type",  "mount",  "mstorage", "trace",
                                         "trace_connect", "random", "gpu",      "backbone"};

template <typename Names>
bool is_one_of(std::string_view name, const Names& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}
bool is_named(Xml element, std::initializer_list<std::string_view> names) {
  return is_one_of(element.name(), names);
}
bool is_zone(Xml element) { return is_named(element, {"zone", "AS"}); }
bool is_zone_route(Xml element) { return is_named(element, {"zoneRoute", "ASroute"}); }
bool is_bypass(Xml element) {
  return is_named(element, {"bypassRoute", "bypassZoneRoute", "bypassASroute"});
}

std::string text_of(Xml element, const char* attribute) {
  return element.attribute(attribute).value();
}
bool is_equal(const std::string& one, const char* other) {  // in any case, as in SimGrid
  return strcasecmp(one.c_str(), other) == 0;
}

enum class Routing { kFull, kFloyd, kDijkstra, kCluster, kNone, kUnknown };

Routing routing_of(Xml zone) {
  const std::string name = text_of(zone, "routing");
  for (const auto& [known, routing] :
       {std::pair{"Full", Routing::kFull}, std::pair{"Floyd", Routing::kFloyd},
        std::pair{"Dijkstra", Routing::kDijkstra}, std::pair{"DijkstraCache", Routing::kDijkstra},
        std::pair{"Cluster", Routing::kCluster}, std::pair{"None", Routing::kNone}}) {
    if (is_equal(name, known)) return routing;
  }
  return Routing::kUnknown;
}

class PlatformReader {
 public:
  PlatformReader(const base::XmlFile& file, std::string path, const ClusterDefaults& defaults)
      : file_(file),
        path_(std::move(path)),
        defaults_(defaults),
        zones_(std::make_shared<SimgridZones>()) {}

  base::Result<Network> read() {
    zone_numbers_[file_.root()] = zones_->add_zone(kNoId, table_routes());
    find_forwarding();
    if (auto status = for_each_element(&PlatformReader::declare); !status) return status.error();
    if (auto status = for_each_element(&PlatformReader::connect); !status) return status.error();
    auto network = graph_.build(path_);
    if (!network) return base::Error{path_ + ": " + network.error().message};
    zones_->finish(graph_);
    network->give_routes(zones_);
    return network;
  }

 private:
  using Declare = base::Status (PlatformReader::*)(Xml element);

  // Each element, in the order of the file; not those inside elements that are no zones. Zones may
  // be nested as deeply as memory permits, so nothing here recurses.
  base::Status for_each_element(Declare take) {
    const Xml root = file_.root();
    for (Xml at = root.first_child(); at; at = after(at, root)) {
      if (at.type() != pugi::node_element) continue;
      if (auto status = (this->*take)(at); !status) return status;
    }
    return base::Done{};
  }
  static Xml after(Xml at, Xml root) {
    if (is_zone(at) && at.first_child()) return at.first_child();
    while (at != root && !at.next_sibling()) at = at.parent();
    return at == root ? Xml() : at.next_sibling();
  }

  Zone zone_around(Xml element) const { return zone_numbers_.at(element.parent()); }

  template <typename T>
  base::Result<T> valued(Xml element, const char* attribute, base::Result<T> value) const {
    if (value) return value;
    return file_.error(element, std::string(element.name()) + " '" + text_of(element, "id") +
                                    "', " + attribute + ": " + value.error().message);
  }

  // Finds hosts that forward others' traffic: gateways, and hosts at which several links of a route
  // graph end. A pass of its own, because such a host gets a switch when it is declared, and the
  // routes come after it in the file.
  void find_forwarding() {
    std::unordered_map<std::string, std::set<std::string>> beside;
    const Xml root = file_.root();
    for (Xml at = root.first_child(); at; at = after(at, root)) {
      if (is_zone_route(at) || is_bypass(at)) {
        forwarding_.insert(text_of(at, "gw_src"));
        forwarding_.insert(text_of(at, "gw_dst"));
      } else if (is_named(at, {"route"}) && (routing_of(at.parent()) == Routing::kFloyd ||
                                             routing_of(at.parent()) == Routing::kDijkstra)) {
        beside[text_of(at, "src")].insert(text_of(at, "dst"));
        beside[text_of(at, "dst")].insert(text_of(at, "src"));
      }
    }
    for (const auto& [name, others] : beside) {
      if (others.size() > 1) forwarding_.insert(name);
    }
  }

  base::Status declare(Xml element) {
    static const std::map<std::string_view, Declare> kDeclarations = {
        {"zone", &PlatformReader::declare_zone},      {"AS", &PlatformReader::declare_zone},
        {"host", &PlatformReader::declare_host},      {"router", &PlatformReader::declare_router},
        {"link", &PlatformReader::declare_link},      {"cluster", &PlatformReader::declare_cluster},
        {"cabinet", &PlatformReader::declare_cabinet}};
    const auto found = kDeclarations.find(element.name());
    if (found != kDeclarations.end()) return (this->*found->second)(element);
    if (is_one_of(element.name(), kIgnored) || is_zone_route(element) || is_bypass(element) ||
        is_named(element, {"route", "host_link"}))
      return base::Done{};
    if (is_named(element, {"actor", "process"}))
      return file_.error(element,
                         "this is a deployment, which says what runs where; give the "
                         "platform, which has the hosts");
    return file_.error(element, std::string("'") + element.name() +
                                    "' cannot be read; docs/simulator.md lists what can");
  }

  Zone add_zone(Xml element, const std::string& name,
                std::unique_ptr<SimgridZones::LocalRoutes> routes) {
    const Zone zone = zones_->add_zone(zone_around(element), std::move(routes));
    zone_points_[name] = zones_->point_of(zone);
    return zone;
  }

  base::Status declare_zone(Xml zone) {
    const std::string name = text_of(zone, "id");
    std::unique_ptr<SimgridZones::LocalRoutes> routes;
    StarRoutes* star = nullptr;
    switch (routing_of(zone)) {
      case Routing::kFull:
      case Routing::kNone: routes = table_routes(); break;
      case Routing::kFloyd: routes = graph_routes(GraphSearch::kFloyd); break;
      case Routing::kDijkstra: routes = graph_routes(GraphSearch::kDijkstra); break;
      case Routing::kCluster: {
        auto made = make_zone_star(zone);
        if (!made) return made.error();
        star = made->get();
        routes = std::move(*made);
        break;
      }
      case Routing::kUnknown:
        return file_.error(
            zone, "zone '" + name + "' has routing '" + text_of(zone, "routing") +
                      "'; Full, Floyd, Dijkstra, DijkstraCache, Cluster and None can be read");
    }
    zone_numbers_[zone] = add_zone(zone, name, std::move(routes));
    if (star) stars_[zone_numbers_[zone]] = star;
    return base::Done{};
  }

  // A zone that lists its hosts and links one by one. Its router, if any, is the centre of the
  // star.
  base::Result<std::unique_ptr<StarRoutes>> make_zone_star(Xml zone) {
    std::optional<Cable> backbone;
    if (const Xml element = zone.child("backbone")) {
      auto cable = cable_of(element, text_of(element, "id"), "bandwidth", "latency",
                            "sharing_policy", Sharing::kShared);
      if (!cable) return cable.error();
      backbone = *cable;
    }
    const std::string router = text_of(zone.child("router"), "id");
    return std::make_unique<StarRoutes>(
        graph_, router.empty() ? text_of(zone, "id") + ".router" : router, backbone);
  }

  StarRoutes* star_around(Xml element) const {
    const auto star = stars_.find(zone_around(element));
    return star == stars_.end() ? nullptr : star->second;
  }

  base::Result<Cable> cable_of(Xml element, const std::string& name, const char* bandwidth,
                               const char* latency, const char* policy, Sharing sharing) {
    const auto capacity =
        valued(element, bandwidth, simgrid_bandwidth_Bps(text_of(element, bandwidth)));
    if (!capacity) return capacity.error();
    base::Result<double> latency_s = 0.0;
    if (element.attribute(latency))
      latency_s = valued(element, latency, simgrid_time_s(text_of(element, latency)));
    if (!latency_s) return latency_s.error();
    const auto given = sharing_of(element, name, policy, sharing);
    if (!given) return given.error();
    return add_cable(graph_, name, *capacity, *latency_s, *given);
  }

  base::Result<Sharing> sharing_of(Xml element, const std::string& name, const char* policy,
                                   Sharing otherwise) const {
    if (!element.attribute(policy)) return otherwise;
    static const std::map<std::string, Sharing> kPolicies = {{"SHARED", Sharing::kShared},
                                                             {"FATPIPE", Sharing::kFatPipe},
                                                             {"SPLITDUPLEX", Sharing::kSplitDuplex},
                                                             {"FULLDUPLEX", Sharing::kSplitDuplex}};
    const auto found = kPolicies.find(text_of(element, policy));
    if (found != kPolicies.end()) return found->second;
    return file_.error(element, "'" + name + "' has sharing policy '" + text_of(element, policy) +
                                    "'; the policies are SHARED, SPLITDUPLEX and FATPIPE");
  }

  // In `zone`. The node is where its ways begin and end.
  base::Result<Node> new_host(Xml element, const std::string& name, Zone zone) {
    if (points_.contains(name)) return file_.error(element, "'" + name + "' is defined twice");
    if (points_.size() == kMostNodes)
      return file_.error(element, "the platform has more than " + std::to_string(kMostNodes) +
                                      " hosts and routers, the most that can be simulated");
    const pugi::xml_attribute core = element.attribute("core");
    const unsigned slots = core ? core.as_uint() : defaults_.slots;
    if (slots == 0)
      return file_.error(element, "host '" + name + "' has core '" + text_of(element, "core") +
                                      "', which is not a number above zero");
    const MediaGraph::Host host = graph_.add_host(name, slots, forwarding_.contains(name));
    const Point point = zones_->add_point(zone);
    points_[name] = {point, host.node};
    zones_->add_host(point, host);
    return host.node;
  }

  base::Status declare_host(Xml element) {
    const auto host = new_host(element, text_of(element, "id"), zone_around(element));
    return host ? base::Status(base::Done{}) : host.error();
  }

  base::Status declare_router(Xml element) {
    const std::string name = text_of(element, "id");
    if (points_.contains(name)) return file_.error(element, "'" + name + "' is defined twice");
    StarRoutes* star = star_around(element);
    const Point point = zones_->add_point(zone_around(element));
    points_[name] = {point, star ? star->router() : graph_.add_switch(name)};
    if (star) star->add_router(point);
    return base::Done{};
  }

  base::Status declare_link(Xml element) {
    const std::string name = text_of(element, "id");
    auto cable =
        cable_of(element, name, "bandwidth", "latency", "sharing_policy", Sharing::kShared);
    if (!cable) return cable.error();
    if (!cables_.emplace(name, *cable).second)
      return file_.error(element, "link '" + name + "' is defined twice");
    if (cable->up != cable->down) {
      cables_[name + "_UP"] = {cable->up, cable->up};
      cables_[name + "_DOWN"] = {cable->down, cable->down};
      directed_.insert(name);
    }
    return base::Done{};
  }

  base::Status declare_cabinet(Xml element) {
    StarRoutes* star = star_around(element);
    if (!star) return file_.error(element, "a cabinet must be in a zone with routing Cluster");
    return add_star_hosts(element, *star, zone_around(element));
  }

  base::Result<std::vector<std::uint32_t>> radical_of(Xml element) const {
    return valued(element, "radical", simgrid_radical(text_of(element, "radical")));
  }
  static std::string name_of(Xml element, std::uint32_t number) {
    return text_of(element, "prefix") + std::to_string(number) + text_of(element, "suffix");
  }

  base::Status add_star_hosts(Xml element, StarRoutes& star, Zone zone) {
    const auto radical = radical_of(element);
    if (!radical) return radical.error();
    for (const std::uint32_t number : *radical) {
      const std::string host_name = name_of(element, number);
      const auto host = new_host(element, host_name, zone);
      if (!host) return host.error();
      const std::string name = text_of(element, "id") + "_link_" + host_name;
      const auto own =
          cable_of(element, name, "bw", "lat", "sharing_policy", Sharing::kSplitDuplex);
      if (!own) return own.error();
      base::Result<Cable> limiter = Cable{};
      if (element.attribute("limiter_link"))
        limiter = cable_of(element, name + "_limiter", "limiter_link", "no_latency", "no_policy",
                           Sharing::kShared);
      if (!limiter) return limiter.error();
      star.add_host(graph_, points_.at(host_name).point, *host, *own, *limiter);
    }
    return base::Done{};
  }

  base::Status declare_cluster(Xml element) {
    const std::string name = text_of(element, "id"), topology = text_of(element, "topology");
    if (!topology.empty() && topology != "FLAT") return declare_topology(element, name, topology);
    std::string router = text_of(element, "router_id");
    if (router.empty())
      router = text_of(element, "prefix") + name + "_router" + text_of(element, "suffix");
    std::optional<Cable> backbone;
    if (element.attribute("bb_bw")) {
      auto cable = cable_of(element, name + "_backbone", "bb_bw", "bb_lat", "bb_sharing_policy",
                            Sharing::kShared);
      if (!cable) return cable.error();
      backbone = *cable;
    }
    auto made = std::make_unique<StarRoutes>(graph_, router, backbone);
    StarRoutes& star = *made;
    const Zone zone = add_zone(element, name, std::move(made));
    const Point point = zones_->add_point(zone);
    points_[router] = {point, star.router()};
    star.add_router(point);
    return add_star_hosts(element, star, zone);
  }

  base::Status declare_topology(Xml element, const std::string& name, const std::string& topology) {
    const auto capacity = valued(element, "bw", simgrid_bandwidth_Bps(text_of(element, "bw")));
    const auto latency = valued(element, "lat", simgrid_time_s(text_of(element, "lat")));
    const auto sharing = sharing_of(element, name, "sharing_policy", Sharing::kSplitDuplex);
    if (!capacity) return capacity.error();
    if (!latency) return latency.error();
    if (!sharing) return sharing.error();
    ClusterLinks links = {name, *capacity, *latency, *sharing, {}};
    if (element.attribute("limiter_link")) {
      const auto limiter =
          valued(element, "limiter_link", simgrid_bandwidth_Bps(text_of(element, "limiter_link")));
      if (!limiter) return limiter.error();
      links.limiter_Bps = *limiter;
    }
    static const std::map<std::string, decltype(&make_fat_tree)> kTopologies = {
        {"FAT_TREE", make_fat_tree},
        {"TORUS", make_simgrid_torus},
        {"DRAGONFLY", make_simgrid_dragonfly}};
    const auto make = kTopologies.find(topology);
    if (make == kTopologies.end())
      return file_.error(element, "there is no topology '" + topology +
                                      "'; there are FLAT, FAT_TREE, TORUS and DRAGONFLY");
    const auto radical = radical_of(element);
    if (!radical) return radical.error();
    // The routes need the hosts, and the hosts the zone.
    const Zone zone = add_zone(element, name, nullptr);
    ClusterHosts hosts;
    for (const std::uint32_t number : *radical) {
      const std::string host_name = name_of(element, number);
      if (topology == "TORUS") forwarding_.insert(host_name);
      const auto host = new_host(element, host_name, zone);
      if (!host) return host.error();
      if (hosts.nodes.empty()) hosts.first = points_.at(host_name).point;
      hosts.nodes.push_back(*host);
    }
    auto made = make->second(graph_, links, hosts, text_of(element, "topo_parameters"));
    if (!made) return file_.error(element, "cluster '" + name + "': " + made.error().message);
    zones_->set_routes(zone, std::move(*made));
    return base::Done{};
  }

  // What refers to others: routes, and the links of single hosts in a star.
  base::Status connect(Xml element) {
    if (is_named(element, {"route"})) return add_route(element);
    if (is_zone_route(element)) return add_zone_route(element);
    if (is_bypass(element)) return add_bypass(element);
    if (is_named(element, {"host_link"})) return add_host_link(element);
    return base::Done{};
  }

  base::Status add_host_link(Xml element) {
    StarRoutes* star = star_around(element);
    if (!star) return file_.error(element, "a host_link must be in a zone with routing Cluster");
    const auto host = points_.find(text_of(element, "id"));
    if (host == points_.end())
      return file_.error(element, "there is no host '" + text_of(element, "id") + "'");
    const auto up = cables_.find(text_of(element, "up")),
               down = cables_.find(text_of(element, "down"));
    if (up == cables_.end() || down == cables_.end())
      return file_.error(element, "there is no link '" +
                                      text_of(element, up == cables_.end() ? "up" : "down") + "'");
    star->add_host(graph_, host->second.point, host->second.node,
                   {up->second.up, down->second.down}, {});
    return base::Done{};
  }

  struct Media {
    std::vector<MediaGraph::Medium> there, back;
  };

  base::Result<Media> media_of(Xml element) const {
    Media media;
    for (const Xml part : element.children("link_ctn")) {
      const std::string name = text_of(part, "id"), direction = text_of(part, "direction");
      const auto cable = cables_.find(name);
      if (cable == cables_.end()) return file_.error(part, "there is no link '" + name + "'");
      if (directed_.contains(name) && direction != "UP" && direction != "DOWN") {
        return file_.error(
            part,
            "link '" + name + "' is SPLITDUPLEX; say in which direction it is taken, UP or DOWN");
      }
      const bool down = direction == "DOWN";
      media.there.push_back((down ? cable->second.down : cable->second.up).front());
      media.back.push_back((down ? cable->second.up : cable->second.down).front());
    }
    std::reverse(media.back.begin(), media.back.end());
    return media;
  }

  struct PlacedPoint {
    Point point = kNoId;
    Node node = 0;
  };

  base::Result<PlacedPoint> point_named(Xml element, const char* attribute) const {
    const auto found = points_.find(text_of(element, attribute));
    if (found != points_.end()) return found->second;
    return file_.error(element,
                       "there is no host and no router '" + text_of(element, attribute) + "'");
  }

  base::Result<Point> zone_named(Xml element, const char* attribute) const {
    const auto found = zone_points_.find(text_of(element, attribute));
    if (found != zone_points_.end()) return found->second;
    return file_.error(element, "there is no zone '" + text_of(element, attribute) + "'");
  }

  // SimGrid's routes are between what is directly in the zone that holds them.
  base::Status check_place(Xml element, const char* attribute, Point point) const {
    if (zones_->zone_of(point) == zone_around(element)) return base::Done{};
    return file_.error(element, "'" + text_of(element, attribute) + "' is not in zone '" +
                                    text_of(element.parent(), "id") + "', which has this route");
  }
  base::Status check_gateway(Xml element, const char* attribute, Point zone, Point gateway) const {
    if (zones_->holds(zones_->zone_with(zone), gateway)) return base::Done{};
    return file_.error(element, "gateway '" + text_of(element, attribute) +
                                    "' is not in the zone whose gateway it is to be");
  }

  struct RouteEnd {
    Point point, gateway;
    Node node;
  };
  struct RouteEnds {
    RouteEnd from, to;
  };

  base::Result<RouteEnds> ends_of_hosts(Xml element) const {
    const auto from = point_named(element, "src"), to = point_named(element, "dst");
    if (!from) return from.error();
    if (!to) return to.error();
    return RouteEnds{{from->point, kNoId, from->node}, {to->point, kNoId, to->node}};
  }
  base::Result<RouteEnds> ends_of_zones(Xml element) const {
    const auto from = zone_named(element, "src"), to = zone_named(element, "dst");
    if (!from) return from.error();
    if (!to) return to.error();
    const auto first = point_named(element, "gw_src"), last = point_named(element, "gw_dst");
    if (!first) return first.error();
    if (!last) return last.error();
    return RouteEnds{{*from, first->point, first->node}, {*to, last->point, last->node}};
  }

  base::Status check_places(Xml element, const RouteEnds& ends) const {
    if (auto status = check_place(element, "src", ends.from.point); !status) return status;
    return check_place(element, "dst", ends.to.point);
  }
  base::Status check_gateways(Xml element, const RouteEnds& ends) const {
    const RouteEnd &from = ends.from, &to = ends.to;
    if (auto status = check_gateway(element, "gw_src", from.point, from.gateway); !status)
      return status;
    return check_gateway(element, "gw_dst", to.point, to.gateway);
  }

  base::Status add_route(Xml element) {
    const auto ends = ends_of_hosts(element);
    if (!ends) return ends.error();
    if (auto status = check_places(element, *ends); !status) return status;
    return add_ways(element, ends->from, ends->to);
  }

  base::Status add_zone_route(Xml element) {
    const auto ends = ends_of_zones(element);
    if (!ends) return ends.error();
    if (auto status = check_places(element, *ends); !status) return status;
    if (auto status = check_gateways(element, *ends); !status) return status;
    return add_ways(element, ends->from, ends->to);
  }

  base::Status add_ways(Xml element, const RouteEnd& from, const RouteEnd& to) {
    const auto media = media_of(element);
    if (!media) return media.error();
    if (from.node == to.node) return base::Done{};  // loopback
    SimgridZones::LocalRoutes& routes = zones_->routes_in(zone_around(element));
    const std::size_t links = media->there.size();
    routes.add(from.point, to.point, graph_.add_way(from.node, media->there, to.node), links,
               from.gateway, to.gateway, true);
    if (!is_equal(text_of(element, "symmetrical"), "NO"))
      routes.add(to.point, from.point, graph_.add_way(to.node, media->back, from.node), links,
                 to.gateway, from.gateway, false);
    return base::Done{};
  }

  // One direction, between points or zones at any depth below the zone that holds the bypass.
  base::Status add_bypass(Xml element) {
    const auto media = media_of(element);
    if (!media) return media.error();
    const bool of_hosts = is_named(element, {"bypassRoute"});
    const auto ends = of_hosts ? ends_of_hosts(element) : ends_of_zones(element);
    if (!ends) return ends.error();
    if (!of_hosts) {
      if (auto status = check_gateways(element, *ends); !status) return status;
    }
    const auto& [from, to] = *ends;
    zones_->add_bypass(zone_around(element), from.point, to.point,
                       graph_.add_way(from.node, media->there, to.node), from.gateway, to.gateway);
    return base::Done{};
  }

  const base::XmlFile& file_;
  const std::string path_;
  const ClusterDefaults defaults_;
  MediaGraph graph_;
  std::shared_ptr<SimgridZones> zones_;
  std::unordered_set<std::string> forwarding_;  // hosts
  std::unordered_set<std::string> directed_;    // links for which a route must name the direction
  std::unordered_map<std::string, PlacedPoint> points_;  // hosts and routers
  std::unordered_map<std::string, Point> zone_points_;
  std::map<Xml, Zone> zone_numbers_;
  std::map<Zone, StarRoutes*> stars_;
  std::unordered_map<std::string, Cable> cables_;
};

}  // namespace

base::Result<Network> read_simgrid_platform(const std::string& path,
                                            const ClusterDefaults& defaults) {
  const auto file = base::XmlFile::read(path);
  if (!file) return file.error();
  return PlatformReader(*file, path, defaults).read();
}

}  // namespace fathom::simulator
