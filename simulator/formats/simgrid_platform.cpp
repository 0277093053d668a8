// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/simgrid_platform.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/xml_file.h"
#include "simulator/formats/simgrid_cluster.h"
#include "simulator/formats/simgrid_values.h"

namespace fathom::simulator {
namespace {

using Node = MediaGraph::Node;
using Xml = pugi::xml_node;

constexpr std::string_view kRoutings[] = {"Full",          "Floyd",   "Dijkstra",
                                          "DijkstraCache", "Cluster", "None"};
constexpr std::string_view kIgnored[] = {"prop",          "config",  "disk",     "storage",
                                         "storage_type",  "mount",   "mstorage", "trace",
                                         "trace_connect", "random",  "gpu",      "route",
                                         "zoneRoute",     "ASroute", "backbone", "host_link"};

template <typename Names>
bool is_one_of(std::string_view name, const Names& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}
bool is_zone(Xml element) {
  return is_one_of(element.name(), std::initializer_list<std::string_view>{"zone", "AS"});
}
bool is_zone_route(Xml element) {
  return is_one_of(element.name(), std::initializer_list<std::string_view>{"zoneRoute", "ASroute"});
}

std::string text_of(Xml element, const char* attribute) {
  return element.attribute(attribute).value();
}

class PlatformReader {
 public:
  PlatformReader(const base::XmlFile& file, std::string path, const ClusterDefaults& defaults)
      : file_(file), path_(std::move(path)), defaults_(defaults) {}

  base::Result<Network> read() {
    for (const Xml zone : file_.root()) find_forwarding(zone);
    for (const Xml zone : file_.root()) {
      if (auto status = declare(zone, nullptr); !status) return status.error();
    }
    for (const Xml zone : file_.root()) {
      if (auto status = add_routes(zone); !status) return status.error();
    }
    auto network = graph_.build(path_);
    if (!network) return base::Error{path_ + ": " + network.error().message};
    return network;
  }

 private:
  using Declare = base::Status (PlatformReader::*)(Xml element, const StarCluster* star);

  template <typename T>
  base::Result<T> valued(Xml element, const char* attribute, base::Result<T> value) const {
    if (value) return value;
    return file_.error(element, std::string(element.name()) + " '" + text_of(element, "id") +
                                    "', " + attribute + ": " + value.error().message);
  }

  // Finds hosts that forward others' traffic: gateways, and hosts at which several links of a route
  // graph end. A pass of its own, because such a host gets a switch when it is declared, and the
  // routes come after it in the file.
  void find_forwarding(Xml zone) {
    const bool is_graph =
        is_one_of(text_of(zone, "routing"),
                  std::initializer_list<std::string_view>{"Floyd", "Dijkstra", "DijkstraCache"});
    std::map<std::string, std::set<std::string>> beside;
    for (const Xml element : zone) {
      if (is_zone_route(element)) {
        forwarding_.insert(text_of(element, "gw_src"));
        forwarding_.insert(text_of(element, "gw_dst"));
      } else if (is_graph && std::string_view(element.name()) == "route") {
        beside[text_of(element, "src")].insert(text_of(element, "dst"));
        beside[text_of(element, "dst")].insert(text_of(element, "src"));
      }
      if (is_zone(element)) find_forwarding(element);
    }
    for (const auto& [name, others] : beside) {
      if (others.size() > 1) forwarding_.insert(name);
    }
  }

  base::Status declare(Xml element, const StarCluster* star) {
    static const std::map<std::string_view, Declare> kDeclarations = {
        {"zone", &PlatformReader::declare_zone},      {"AS", &PlatformReader::declare_zone},
        {"host", &PlatformReader::declare_host},      {"router", &PlatformReader::declare_router},
        {"link", &PlatformReader::declare_link},      {"cluster", &PlatformReader::declare_cluster},
        {"cabinet", &PlatformReader::declare_cabinet}};
    if (element.type() != pugi::node_element) return base::Done{};
    const auto found = kDeclarations.find(element.name());
    if (found != kDeclarations.end()) return (this->*found->second)(element, star);
    if (is_one_of(element.name(), kIgnored)) return base::Done{};
    return file_.error(element, std::string("'") + element.name() +
                                    "' cannot be read; docs/simulator.md lists what can");
  }

  base::Status declare_zone(Xml zone, const StarCluster*) {
    const std::string routing = text_of(zone, "routing");
    if (!is_one_of(routing, kRoutings)) {
      return file_.error(
          zone, "zone '" + text_of(zone, "id") + "' has routing '" + routing +
                    "'; Full, Floyd, Dijkstra, DijkstraCache, Cluster and None can be read");
    }
    zones_.insert(text_of(zone, "id"));
    std::optional<StarCluster> star;
    if (routing == "Cluster") {
      auto made = make_zone_star(zone);
      if (!made) return made.error();
      star = *made;
    }
    for (const Xml element : zone) {
      if (auto status = declare(element, star ? &*star : nullptr); !status) return status;
    }
    return base::Done{};
  }

  // A zone that lists its hosts and links one by one. Its router, if any, is the centre of the
  // star.
  base::Result<StarCluster> make_zone_star(Xml zone) {
    std::optional<Cable> backbone;
    if (const Xml element = zone.child("backbone")) {
      auto cable = cable_of(element, text_of(element, "id"), "bandwidth", "latency",
                            "sharing_policy", Sharing::kShared);
      if (!cable) return cable.error();
      backbone = *cable;
    }
    const std::string router = text_of(zone.child("router"), "id");
    const StarCluster star =
        make_star(graph_, router.empty() ? text_of(zone, "id") + ".router" : router, backbone);
    if (!router.empty()) nodes_[router] = star.router;
    return star;
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
    if (element.attribute(policy)) {
      static const std::map<std::string, Sharing> kPolicies = {
          {"SHARED", Sharing::kShared},
          {"FATPIPE", Sharing::kFatPipe},
          {"SPLITDUPLEX", Sharing::kSplitDuplex},
          {"FULLDUPLEX", Sharing::kSplitDuplex}};
      const auto found = kPolicies.find(text_of(element, policy));
      if (found == kPolicies.end())
        return file_.error(element, "'" + name + "' has sharing policy '" +
                                        text_of(element, policy) +
                                        "'; the policies are SHARED, SPLITDUPLEX and FATPIPE");
      sharing = found->second;
    }
    return add_cable(graph_, name, *capacity, *latency_s, sharing);
  }

  base::Result<Node> new_host(Xml element, const std::string& name) {
    if (nodes_.contains(name)) return file_.error(element, "'" + name + "' is defined twice");
    const pugi::xml_attribute core = element.attribute("core");
    const unsigned slots = core ? core.as_uint() : defaults_.slots;
    if (slots == 0)
      return file_.error(element, "host '" + name + "' has core '" + text_of(element, "core") +
                                      "', which is not a number above zero");
    return nodes_[name] = graph_.add_host(name, slots, forwarding_.contains(name));
  }

  base::Status declare_host(Xml element, const StarCluster* star) {
    const std::string name = text_of(element, "id");
    const auto host = new_host(element, name);
    if (!host) return host.error();
    if (!star) return base::Done{};
    for (const Xml link : element.parent().children("host_link")) {
      if (text_of(link, "id") != name) continue;
      const auto up = cables_.find(text_of(link, "up")), down = cables_.find(text_of(link, "down"));
      if (up == cables_.end() || down == cables_.end())
        return file_.error(link, "there is no link '" +
                                     text_of(link, up == cables_.end() ? "up" : "down") +
                                     "' before the host");
      join_star(graph_, *star, *host, {up->second.up, down->second.down}, {});
    }
    return base::Done{};
  }

  base::Status declare_router(Xml element, const StarCluster* star) {
    const std::string name = text_of(element, "id");
    if (star) return base::Done{};
    if (nodes_.contains(name)) return file_.error(element, "'" + name + "' is defined twice");
    nodes_[name] = graph_.add_switch(name);
    return base::Done{};
  }

  base::Status declare_link(Xml element, const StarCluster*) {
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

  base::Status declare_cabinet(Xml element, const StarCluster* star) {
    if (!star) return file_.error(element, "a cabinet must be in a zone with routing Cluster");
    return add_star_hosts(element, *star);
  }

  base::Result<std::vector<Node>> hosts_of(Xml element) {
    const auto radical = valued(element, "radical", simgrid_radical(text_of(element, "radical")));
    if (!radical) return radical.error();
    const bool all_forward = text_of(element, "topology") == "TORUS";
    std::vector<Node> hosts;
    for (const std::uint32_t number : *radical) {
      const std::string name =
          text_of(element, "prefix") + std::to_string(number) + text_of(element, "suffix");
      if (all_forward) forwarding_.insert(name);
      const auto host = new_host(element, name);
      if (!host) return host.error();
      hosts.push_back(*host);
      names_.push_back(name);
    }
    return hosts;
  }

  base::Status add_star_hosts(Xml element, const StarCluster& star) {
    const std::size_t first = names_.size();
    const auto hosts = hosts_of(element);
    if (!hosts) return hosts.error();
    for (std::size_t at = 0; at < hosts->size(); ++at) {
      const std::string name = text_of(element, "id") + "_link_" + names_[first + at];
      const auto own =
          cable_of(element, name, "bw", "lat", "sharing_policy", Sharing::kSplitDuplex);
      if (!own) return own.error();
      base::Result<Cable> limiter = Cable{};
      if (element.attribute("limiter_link"))
        limiter = cable_of(element, name + "_limiter", "limiter_link", "no_latency", "no_policy",
                           Sharing::kShared);
      if (!limiter) return limiter.error();
      join_star(graph_, star, (*hosts)[at], *own, *limiter);
    }
    return base::Done{};
  }

  base::Status declare_cluster(Xml element, const StarCluster*) {
    const std::string name = text_of(element, "id"), topology = text_of(element, "topology");
    zones_.insert(name);
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
    const StarCluster star = make_star(graph_, router, backbone);
    nodes_[router] = star.router;
    return add_star_hosts(element, star);
  }

  base::Status declare_topology(Xml element, const std::string& name, const std::string& topology) {
    if (element.attribute("limiter_link"))
      return file_.error(element,
                         "cluster '" + name + "': a limiter_link with a topology cannot be read");
    if (element.attribute("sharing_policy") &&
        text_of(element, "sharing_policy") != "SPLITDUPLEX") {
      return file_.error(
          element, "cluster '" + name + "': links of a topology can only be read as SPLITDUPLEX");
    }
    const auto capacity = valued(element, "bw", simgrid_bandwidth_Bps(text_of(element, "bw")));
    const auto latency = valued(element, "lat", simgrid_time_s(text_of(element, "lat")));
    if (!capacity) return capacity.error();
    if (!latency) return latency.error();
    static const std::map<std::string, decltype(&make_fat_tree)> kTopologies = {
        {"FAT_TREE", make_fat_tree},
        {"TORUS", make_simgrid_torus},
        {"DRAGONFLY", make_simgrid_dragonfly}};
    const auto make = kTopologies.find(topology);
    if (make == kTopologies.end())
      return file_.error(element, "there is no topology '" + topology +
                                      "'; there are FLAT, FAT_TREE, TORUS and DRAGONFLY");
    const auto hosts = hosts_of(element);
    if (!hosts) return hosts.error();
    const auto made = make->second(graph_, {name, *capacity, *latency}, *hosts,
                                   text_of(element, "topo_parameters"));
    if (!made) return file_.error(element, "cluster '" + name + "': " + made.error().message);
    return base::Done{};
  }

  base::Status add_routes(Xml zone) {
    if (!is_zone(zone)) return base::Done{};
    for (const Xml element : zone) {
      base::Status status = base::Done{};
      if (std::string_view(element.name()) == "route") {
        status = add_route(element, text_of(element, "src"), text_of(element, "dst"),
                           text_of(zone, "routing") == "Full");
      } else if (is_zone_route(element)) {
        for (const char* end : {"src", "dst"}) {
          if (!zones_.contains(text_of(element, end)))
            return file_.error(element, "there is no zone '" + text_of(element, end) + "'");
        }
        status = add_route(element, text_of(element, "gw_src"), text_of(element, "gw_dst"), false);
      } else {
        status = add_routes(element);
      }
      if (!status) return status;
    }
    return base::Done{};
  }

  base::Status add_route(Xml element, const std::string& from, const std::string& to,
                         bool is_whole) {
    for (const std::string& name : {from, to}) {
      if (!nodes_.contains(name))
        return file_.error(element, "there is no host and no router '" + name + "'");
    }
    std::vector<MediaGraph::Medium> there, back;
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
      there.push_back((down ? cable->second.down : cable->second.up).front());
      back.insert(back.begin(), (down ? cable->second.up : cable->second.down).front());
    }
    add_way(nodes_[from], there, nodes_[to], is_whole);
    const std::string symmetrical = text_of(element, "symmetrical");
    if (symmetrical != "NO" && symmetrical != "no")
      add_way(nodes_[to], back, nodes_[from], is_whole);
    return base::Done{};
  }

  void add_way(Node from, const std::vector<MediaGraph::Medium>& media, Node to, bool is_whole) {
    if (from == to) return;  // loopback
    graph_.add_way(from, media, to);
    if (is_whole) graph_.must_be_shortest(from, media, to);
  }

  const base::XmlFile& file_;
  const std::string path_;
  const ClusterDefaults defaults_;
  MediaGraph graph_;
  std::set<std::string> forwarding_, zones_;
  std::set<std::string> directed_;  // links for which a route must name the direction
  std::unordered_map<std::string, Node> nodes_;
  std::unordered_map<std::string, Cable> cables_;
  std::vector<std::string> names_;  // of cluster hosts, in order of creation
};

}  // namespace

base::Result<Network> read_simgrid_platform(const std::string& path,
                                            const ClusterDefaults& defaults) {
  const auto file = base::XmlFile::read(path);
  if (!file) return file.error();
  return PlatformReader(*file, path, defaults).read();
}

}  // namespace fathom::simulator
