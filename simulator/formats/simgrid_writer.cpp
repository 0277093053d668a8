// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/simgrid_writer.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "simulator/network/given_routes.h"
#include "simulator/routing/given.h"

namespace fathom::simulator {
namespace {

constexpr std::uint64_t kMostRoutes = 1 << 26;

std::string number_text(double number) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr};
}

// What a platform calls a link of the network.
struct LinkName {
  std::string id;
  const char* direction = nullptr;  // of a SPLITDUPLEX link
};

// The links from one node to another, with those back.
struct Cables {
  std::vector<LinkId> there, back;
};

class PlatformWriter : public RouteSink {
 public:
  PlatformWriter(const Network& network, base::AtomicFile& file) : network_(network), file_(file) {
    for (LinkId id = 0; id < network.link_count(); ++id) {
      const Link& link = network.link(id);
      Cables& cables = cables_[std::minmax(link.source, link.target)];
      (link.source < link.target ? cables.there : cables.back).push_back(id);
    }
  }

  void begin(const char* routing) {
    std::string zone = "network";
    while (network_.find_node(zone) != kNoId) zone += '_';
    file_.append(
        "<?xml version=\"1.0\"?>\n"
        "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        "<platform version=\"4.1\">\n<zone id=\"" +
        zone + "\" routing=\"" + routing + "\">\n");
    for (NodeId node = 0; node < network_.node_count(); ++node) {
      const std::string id = " id=\"" + base::xml_text(network_.node_name(node)) + "\"";
      file_.append(network_.is_host(node) ? "<host" + id + " speed=\"1Gf\" core=\"" +
                                                std::to_string(network_.slots(node)) + "\"/>\n"
                                          : "<router" + id + "/>\n");
    }
  }

  void end() { file_.append("</zone>\n</platform>\n"); }

  // A link for each cable.
  void write_cables() {
    names_.resize(network_.link_count());
    for (const auto& [ends, cables] : cables_) {
      std::size_t number = 0;
      std::vector<LinkId> back = cables.back;
      for (const LinkId there : cables.there) {
        const auto same = std::find_if(back.begin(), back.end(), [&](LinkId other) {
          return network_.link(other).capacity_Bps == network_.link(there).capacity_Bps &&
                 network_.link(other).latency_s == network_.link(there).latency_s;
        });
        const std::string id = link_id(ends.first, ends.second, number++);
        const bool is_cable = same != back.end();
        write_link(id, network_.link(there).capacity_Bps, network_.link(there).latency_s, is_cable);
        names_[there] = {id, is_cable ? "UP" : nullptr};
        if (!is_cable) continue;
        names_[*same] = {id, "DOWN"};
        back.erase(same);
      }
      number = 0;
      for (const LinkId alone : back) {
        const std::string id = link_id(ends.second, ends.first, number++);
        write_link(id, network_.link(alone).capacity_Bps, network_.link(alone).latency_s, false);
        names_[alone] = {id, nullptr};
      }
    }
  }

  // The demands whose routes are to come.
  void expect(std::span<const Demand> demands) { demands_ = demands; }

  void take(std::size_t index, std::span<const LinkId> links, double share) override {
    is_split_ = is_split_ || share != 1;
    std::vector<LinkName> names;
    for (const LinkId link : links) names.push_back(names_[link]);
    write_route(demands_[index].source, demands_[index].destination, names, false);
  }
  bool is_split() const { return is_split_; }

  // A link and a route for all cables between two nodes together; links first, as the format wants.
  void write_graph() {
    for (const bool is_routes : {false, true}) {
      for (const auto& [ends, cables] : cables_) {
        const Trunk there = together(cables.there), back = together(cables.back);
        const bool is_cable = there == back;
        if (there.capacity_Bps > 0)
          write_trunk(ends.first, ends.second, there, is_cable, is_routes);
        if (back.capacity_Bps > 0 && !is_cable)
          write_trunk(ends.second, ends.first, back, false, is_routes);
      }
    }
  }

 private:
  // Unique: `number` counts the cables between the two.
  std::string link_id(NodeId from, NodeId to, std::size_t number) const {
    return network_.node_name(from) + " to " + network_.node_name(to) +
           (number == 0 ? "" : " #" + std::to_string(number + 1));
  }

  struct Trunk {
    double capacity_Bps = 0, latency_s = 0;  // of all links; the least
    bool operator==(const Trunk&) const = default;
  };

  Trunk together(const std::vector<LinkId>& links) const {
    Trunk trunk;
    for (const LinkId id : links) {
      const Link& link = network_.link(id);
      trunk.latency_s =
          trunk.capacity_Bps == 0 ? link.latency_s : std::min(trunk.latency_s, link.latency_s);
      trunk.capacity_Bps += link.capacity_Bps;
    }
    return trunk;
  }

  void write_trunk(NodeId from, NodeId to, const Trunk& trunk, bool both_ways, bool is_route) {
    const std::string id = link_id(from, to, 0);
    if (is_route) {
      write_route(from, to, {{id, both_ways ? "UP" : nullptr}}, both_ways);
    } else {
      write_link(id, trunk.capacity_Bps, trunk.latency_s, both_ways);
    }
  }

  void write_link(const std::string& id, double capacity_Bps, double latency_s, bool both_ways) {
    file_.append("<link id=\"" + base::xml_text(id) + "\" bandwidth=\"" +
                 number_text(capacity_Bps) + "Bps\" latency=\"" + number_text(latency_s) +
                 "s\" sharing_policy=\"" + (both_ways ? "SPLITDUPLEX" : "SHARED") + "\"/>\n");
  }

  void write_route(NodeId source, NodeId target, const std::vector<LinkName>& links,
                   bool both_ways) {
    std::string text = "<route src=\"" + base::xml_text(network_.node_name(source)) + "\" dst=\"" +
                       base::xml_text(network_.node_name(target)) + "\"" +
                       (both_ways ? ">" : " symmetrical=\"NO\">");
    for (const LinkName& link : links) {
      text += "<link_ctn id=\"" + base::xml_text(link.id) + "\"";
      if (link.direction) text += std::string(" direction=\"") + link.direction + "\"";
      text += "/>";
    }
    file_.append(text + "</route>\n");
  }

  const Network& network_;
  base::AtomicFile& file_;
  std::map<std::pair<NodeId, NodeId>, Cables> cables_;  // by the lower and the higher node
  std::vector<LinkName> names_;                         // by link
  std::span<const Demand> demands_;
  bool is_split_ = false;
};

// One byte between every two hosts. If the network's own routes are taken, only where it has one.
std::vector<Demand> all_demands(const Network& network, const RouterRow& router) {
  const bool is_given = network.given_routes() && router.make == make_given;
  std::vector<Demand> demands;
  std::vector<LinkId> way;
  for (HostId source = 0; source < network.host_count(); ++source) {
    for (HostId destination = 0; destination < network.host_count(); ++destination) {
      if (source == destination) continue;
      way.clear();
      if (is_given && !network.given_routes()->append(source, destination, way)) continue;
      demands.push_back({source, destination, 1, 1, 0});
    }
  }
  return demands;
}

}  // namespace

bool needs_written_routes(const Network& network) {
  if (network.given_routes()) return true;
  if (network.switch_count() == 0) return false;
  for (HostId host = 0; host < network.host_count(); ++host) {
    for (const LinkId link : network.links_from(host)) {
      if (network.link(link).target != network.link(network.links_from(host).front()).target)
        return true;
    }
  }
  return false;
}

base::Status write_simgrid_platform(const Network& network, const std::string& path,
                                    const RouterRow* router, const RouterOptions& options) {
  base::AtomicFile file;
  if (auto status = file.open(path, base::AtomicFile::Existing::kReplace); !status) return status;
  PlatformWriter writer(network, file);
  if (!router) {
    writer.begin("DijkstraCache");
    writer.write_graph();
  } else {
    const std::uint64_t hosts = network.host_count();
    if (hosts * hosts > kMostRoutes) {
      return base::Error{"'" + network.name() + "' has " + std::to_string(hosts) +
                         " hosts; the routes between more than 8192 are too many to write down"};
    }
    writer.begin("Full");
    writer.write_cables();
    const std::vector<Demand> demands = all_demands(network, *router);
    writer.expect(demands);
    auto made = router->make(network, options);
    if (!made) return made.error();
    if (auto routed = (*made)->route(demands, LinkUse(network), writer); !routed) return routed;
    if (writer.is_split()) {
      return base::Error{std::string("routing ") + router->name +
                         " splits flows, which SimGrid's routes cannot do; choose another"};
    }
  }
  writer.end();
  return file.commit();
}

}  // namespace fathom::simulator
