// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/graphml.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/text.h"
#include "base/text_lines.h"
#include "base/utf8.h"
#include "base/xml_file.h"

namespace fathom::simulator {
namespace {

constexpr double kMostSlots = 1 << 24;

struct GridName {
  const char* name;
  Grid::Kind kind;
  bool half_way_to_0_is_down;
};
constexpr GridName kGrids[] = {{"mesh", Grid::Kind::kMesh, false},
                               {"torus", Grid::Kind::kTorus, false},
                               {"hyperx", Grid::Kind::kHyperX, false},
                               {"simgrid-torus", Grid::Kind::kTorus, true}};

using Coordinates = std::vector<std::uint32_t>;

// "1,0,2"; empty if the text is anything else.
Coordinates coordinates_from(const std::string& text) {
  Coordinates coordinates;
  for (const std::string& part : base::split(text, ',')) {
    std::uint32_t number = 0;
    const auto [end, failed] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (failed != std::errc() || end != part.data() + part.size() || number > kMostSlots) return {};
    coordinates.push_back(number);
  }
  return coordinates;
}

// The grid formed by these points in this order; the last or the first coordinate runs fastest.
std::optional<Grid> grid_of(const GridName& name, const std::vector<Coordinates>& points) {
  Coordinates extent(points.empty() ? 0 : points.front().size(), 0);
  for (const Coordinates& point : points) {
    if (point.size() != extent.size() || point.empty()) return std::nullopt;
    for (std::size_t at = 0; at < point.size(); ++at)
      extent[at] = std::max(extent[at], point[at] + 1);
  }
  Grid last_fastest = Grid::in_order(name.kind, extent);
  Grid first_fastest = Grid::in_order(name.kind, {extent.rbegin(), extent.rend()});
  std::reverse(first_fastest.extent.begin(), first_fastest.extent.end());
  std::reverse(first_fastest.stride.begin(), first_fastest.stride.end());
  for (Grid* grid : {&last_fastest, &first_fastest}) {
    grid->half_way_to_0_is_down = name.half_way_to_0_is_down;
    bool fits = !points.empty() && grid->points() == points.size();
    for (std::uint32_t at = 0; fits && at < points.size(); ++at)
      fits = grid->coordinates(at) == points[at];
    if (fits) return *grid;
  }
  return std::nullopt;
}

class GraphmlReader {
 public:
  explicit GraphmlReader(const base::XmlFile& file, std::string path)
      : file_(file), path_(std::move(path)) {}

  base::Result<Network> read() {
    const pugi::xml_node graph = file_.root().child("graph");
    if (std::string_view(file_.root().name()) != "graphml" || !graph) {
      return file_.error(file_.root(),
                         "is not GraphML: it has no graphml element with a graph inside");
    }
    collect_keys();
    const Data about = data_of(graph);
    NetworkBuilder builder(about.contains("name") ? about.at("name") : path_);
    for (const pugi::xml_node node : graph.children("node")) {
      if (base::Status status = add_node(node, builder); !status) return status.error();
    }
    if (about.contains("grid")) {
      if (base::Status status = set_grid(graph, about.at("grid"), builder); !status)
        return status.error();
    }
    const bool both_ways = std::string_view(graph.attribute("edgedefault").value()) == "undirected";
    for (const pugi::xml_node edge : graph.children("edge")) {
      if (base::Status status = add_edge(edge, both_ways, builder); !status) return status.error();
    }
    return builder.build_from(path_);
  }

 private:
  using Data = std::map<std::string, std::string>;

  void collect_keys() {
    for (const pugi::xml_node key : file_.root().children("key")) {
      keys_[key.attribute("id").value()] = key.attribute("attr.name").value();
    }
  }

  Data data_of(pugi::xml_node element) const {
    Data data;
    for (const pugi::xml_node entry : element.children("data")) {
      const auto key = keys_.find(entry.attribute("key").value());
      if (key != keys_.end()) data[key->second] = entry.text().get();
    }
    return data;
  }

  static const std::string* find(const Data& data, const char* name, const char* other = "") {
    auto found = data.find(name);
    if (found == data.end()) found = data.find(other);
    return found == data.end() ? nullptr : &found->second;
  }

  base::Status set_grid(pugi::xml_node graph, const std::string& kind,
                        NetworkBuilder& builder) const {
    for (const GridName& name : kGrids) {
      if (kind != name.name) continue;
      const std::optional<Grid> grid = grid_of(name, points_);
      if (!grid) {
        return file_.error(
            graph, "the switches of a graph with grid '" + kind +
                       "' need coordinates such as 0,1,2, and must be listed in their order");
      }
      builder.set_grid(*grid);
      return base::Done{};
    }
    return file_.error(
        graph, "there is no grid '" + kind + "'; there are mesh, torus, hyperx, simgrid-torus");
  }

  base::Status add_node(pugi::xml_node node, NetworkBuilder& builder) {
    const std::string name = node.attribute("id").value();
    if (name.empty()) return file_.error(node, "a node has no id");
    const std::string who = "node '" + name + "'";
    if (numbers_.contains(name)) return file_.error(node, who + " is defined twice");
    const Data data = data_of(node);
    const std::string* type = find(data, "typ", "type");
    if (!type || (*type != "host" && *type != "switch")) {
      return file_.error(node, who + (type ? " is of typ '" + *type + "'" : " has no typ") +
                                   "; give each node a data key 'typ' of 'host' or 'switch'");
    }
    if (*type == "switch") {
      auto datapath = optional_number(node, data, "dpid", static_cast<double>(kNoDatapath));
      if (!datapath) return datapath.error();
      const std::string* coordinates = find(data, "coordinates");
      points_.push_back(coordinates ? coordinates_from(*coordinates) : Coordinates{});
      numbers_[name] = builder.add_switch(name, static_cast<std::int64_t>(*datapath));
      return base::Done{};
    }
    const std::string* slots_text = find(data, "slots", "capacity");
    if (!slots_text) {
      return file_.error(node, who + " has no capacity; say how many processes the host takes");
    }
    const auto slots = file_.number(node, "the capacity of " + who, *slots_text);
    if (!slots) return slots.error();
    if (!(*slots >= 1 && *slots <= kMostSlots) || *slots != std::floor(*slots)) {
      return file_.error(node, "the capacity of " + who + " is " + *slots_text +
                                   "; a host takes a whole number of processes, at least 1");
    }
    const std::string* mac = find(data, "mac");
    numbers_[name] = builder.add_host(name, static_cast<std::uint32_t>(*slots), mac ? *mac : "");
    return base::Done{};
  }

  base::Result<double> optional_number(pugi::xml_node where, const Data& data, const char* name,
                                       double otherwise) const {
    const std::string* text = find(data, name);
    if (!text) return otherwise;
    return file_.number(where, name, *text);
  }

  base::Result<std::uint32_t> node_of(pugi::xml_node edge, const char* end) const {
    const std::string name = edge.attribute(end).value();
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    return file_.error(
        edge, std::string("the edge's ") + end + " '" + name + "' is not a node of the graph");
  }

  base::Status add_edge(pugi::xml_node edge, bool both_ways, NetworkBuilder& builder) {
    const auto source = node_of(edge, "source"), target = node_of(edge, "target");
    if (!source) return source.error();
    if (!target) return target.error();
    const Data data = data_of(edge);
    const std::string who = std::string("the edge from '") + edge.attribute("source").value() +
                            "' to '" + edge.attribute("target").value() + "'";
    if (*source == *target) return file_.error(edge, who + " ends where it begins");
    const std::string* capacity_text = find(data, "capacity");
    if (!capacity_text) return file_.error(edge, who + " has no capacity");
    const auto capacity = file_.number(edge, "the capacity of " + who, *capacity_text);
    if (!capacity) return capacity.error();
    if (!(*capacity > 0)) {
      return file_.error(
          edge, "the capacity of " + who + " is " + *capacity_text + "; it must be above zero");
    }
    const auto latency = optional_number(edge, data, "latency", 0);
    if (!latency) return latency.error();
    if (!(*latency >= 0)) return file_.error(edge, "the latency of " + who + " is below zero");
    const auto port = optional_number(edge, data, "port", kNoPort);
    if (!port) return port.error();
    builder.add_link(*source, *target, *capacity, *latency, static_cast<std::int32_t>(*port));
    const std::string directed = edge.attribute("directed").as_string(both_ways ? "false" : "true");
    if (directed == "false") builder.add_link(*target, *source, *capacity, *latency);
    return base::Done{};
  }

  const base::XmlFile& file_;
  std::string path_;
  std::map<std::string, std::string> keys_;                 // id → name
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of nodes, by name
  std::vector<Coordinates> points_;                         // of switches; empty if there are none
};

constexpr char kHead[] = R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="name" for="graph" attr.name="name" attr.type="string"/>
<key id="grid" for="graph" attr.name="grid" attr.type="string"/>
<key id="typ" for="node" attr.name="typ" attr.type="string"/>
<key id="slots" for="node" attr.name="capacity" attr.type="long"/>
<key id="mac" for="node" attr.name="mac" attr.type="string"/>
<key id="dpid" for="node" attr.name="dpid" attr.type="long"/>
<key id="coordinates" for="node" attr.name="coordinates" attr.type="string"/>
<key id="capacity" for="edge" attr.name="capacity" attr.type="double"/>
<key id="latency" for="edge" attr.name="latency" attr.type="double"/>
<key id="port" for="edge" attr.name="port" attr.type="long"/>
<key id="traffic" for="edge" attr.name="traffic" attr.type="double"/>
<key id="flows" for="edge" attr.name="flows" attr.type="double"/>
)";

template <typename Number>
std::string digits(Number number) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr};
}

std::string data(const char* key, const std::string& value) {
  return std::string("<data key=\"") + key + "\">" + value + "</data>";
}

// Empty if machines have inner switches, because those have no coordinates.
std::string grid_text(const Network& network) {
  const Grid* grid = network.grid();
  if (!grid || grid->points() != network.switch_count()) return "";
  for (const GridName& name : kGrids) {
    if (name.kind == grid->kind && name.half_way_to_0_is_down == grid->half_way_to_0_is_down)
      return data("grid", name.name);
  }
  return "";
}

// Coordinates of a grid's switch, "1,0,2"; pictures use them for the layout.
std::string coordinates_text(const Network& network, NodeId node) {
  if (!network.grid() || node < network.node_count() - network.grid()->points()) return "";
  std::string text;
  for (const auto coordinate :
       network.grid()->coordinates(node - (network.node_count() - network.grid()->points()))) {
    base::add_to_list(text, digits(coordinate), ",");
  }
  return data("coordinates", text);
}

std::string node_text(const Network& network, NodeId node) {
  std::string text = "<node id=\"" + base::xml_text(network.node_name(node)) + "\">";
  if (network.is_host(node)) {
    text += data("typ", "host") + data("slots", digits(network.slots(node)));
    if (!network.mac(node).empty()) text += data("mac", base::xml_text(network.mac(node)));
  } else {
    text += data("typ", "switch");
    if (network.datapath(node) != kNoDatapath) text += data("dpid", digits(network.datapath(node)));
    text += coordinates_text(network, node);
  }
  return text + "</node>\n";
}

std::string edge_text(const Network& network, LinkId id, const LinkUse* use) {
  const Link& link = network.link(id);
  std::string text = "<edge source=\"" + base::xml_text(network.node_name(link.source)) +
                     "\" target=\"" + base::xml_text(network.node_name(link.target)) + "\">" +
                     data("capacity", digits(link.capacity_Bps));
  if (link.latency_s != 0) text += data("latency", digits(link.latency_s));
  if (link.port != kNoPort) text += data("port", digits(link.port));
  if (use) text += data("traffic", digits(use->bytes[id])) + data("flows", digits(use->flows[id]));
  return text + "</edge>\n";
}

}  // namespace

base::Result<Network> read_graphml(const std::string& path) {
  try {
    const auto file = base::XmlFile::read(path);
    if (!file) return file.error();
    return GraphmlReader(*file, path).read();
  } catch (const std::bad_alloc&) {
    return base::Error{path + ": does not fit into memory"};
  }
}

base::Status write_graphml(const Network& network, const std::string& path, const LinkUse* use) {
  base::AtomicFile file;
  if (auto status = file.open(path, base::AtomicFile::Existing::kReplace); !status) return status;
  file.append(kHead);
  file.append("<graph edgedefault=\"directed\">\n" + data("name", base::xml_text(network.name())) +
              grid_text(network) + "\n");
  for (NodeId node = 0; node < network.node_count(); ++node) file.append(node_text(network, node));
  for (LinkId link = 0; link < network.link_count(); ++link) {
    file.append(edge_text(network, link, use));
  }
  file.append("</graph>\n</graphml>\n");
  return file.commit();
}

}  // namespace fathom::simulator
