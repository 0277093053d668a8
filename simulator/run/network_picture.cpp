// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/run/network_picture.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "base/order/sort_stably.h"
#include "simulator/placement/placed_routes.h"
#include "simulator/routing/load_spread.h"
#include "simulator/run/json_fields.h"

namespace fathom::simulator {
namespace {

// Links to the nearest host; 0 for hosts, and for what no host reaches.
std::vector<std::uint32_t> levels_of(const Network& network) {
  std::vector<std::uint32_t> level(network.node_count(), 0);
  std::vector<bool> seen(network.node_count());
  std::deque<NodeId> next;
  for (NodeId host = 0; host < network.host_count(); ++host) {
    seen[host] = true;
    next.push_back(host);
  }
  for (; !next.empty(); next.pop_front()) {
    for (const LinkId id : network.links_from(next.front())) {
      const NodeId target = network.link(id).target;
      if (seen[target]) continue;
      seen[target] = true;
      level[target] = level[next.front()] + 1;
      next.push_back(target);
    }
  }
  return level;
}

// Whether every cable joins neighbouring levels, and there is more than one level of switches.
bool stands_in_levels(const Network& network, const std::vector<std::uint32_t>& level) {
  if (network.switch_count() == 0) return false;
  for (LinkId id = 0; id < network.link_count(); ++id) {
    const Link& link = network.link(id);
    const std::uint32_t a = level[link.source], b = level[link.target];
    if (a + 1 != b && b + 1 != a) return false;
  }
  return true;
}

const char* kind_of(const Network& network, const std::vector<std::uint32_t>& level) {
  if (const Grid* const grid = network.grid()) {
    switch (grid->kind) {
      case Grid::Kind::kMesh: return "mesh";
      case Grid::Kind::kTorus: return "torus";
      case Grid::Kind::kHyperX: return "hyperx";
    }
  }
  if (network.name().starts_with("dragonfly:")) return "dragonfly";
  return stands_in_levels(network, level) ? "tree" : "graph";
}

// 4 of "s4.2" (topology/dragonfly.h).
std::int64_t group_of(const std::string& name) {
  std::int64_t group = -1;
  if (name.size() > 1) std::from_chars(name.data() + 1, name.data() + name.size(), group);
  return group;
}

// The switches of the grid come after those inside machines (network.h).
std::int64_t point_of(const Network& network, NodeId node) {
  const Grid* const grid = network.grid();
  if (grid == nullptr) return -1;
  const NodeId first = network.node_count() - grid->points();
  if (network.is_host(node) || node < first) return -1;
  std::int64_t point = 0;
  // In the order of the picture, the last coordinate runs fastest, whatever the strides.
  const std::vector<std::uint32_t> at = grid->coordinates(node - first);
  for (std::size_t dimension = 0; dimension < at.size(); ++dimension)
    point = point * grid->extent[dimension] + at[dimension];
  return point;
}

// Adds up what parts of demands put on each link.
class PartSink : public RouteSink {
 public:
  PartSink(std::size_t links, std::vector<double> parts) : bytes(links), parts_(std::move(parts)) {}

  void take(std::size_t index, std::span<const LinkId> links, double share) override {
    if (parts_[index] == 0) return;
    for (const LinkId link : links) bytes[link] += share * parts_[index];
  }

  std::vector<double> bytes;  // by link

 private:
  std::vector<double> parts_;  // by demand, bytes
};

// Keeps the demands that take one link, of which `bytes` are looked at.
class LinkSink : public RouteSink {
 public:
  LinkSink(LinkId link, std::span<const Demand> all, std::vector<double> bytes)
      : link_(link), all_(all), bytes_(std::move(bytes)) {}

  void take(std::size_t index, std::span<const LinkId> links, double share) override {
    const auto times = std::count(links.begin(), links.end(), link_);
    if (times == 0 || bytes_[index] == 0) return;
    const Demand& demand = all_[index];
    const double part = share * static_cast<double>(times);
    demands.insert(index);
    flows.push_back({demand.source, demand.destination, part * bytes_[index], share});
  }

  std::vector<LinkFlow> flows;
  std::set<std::size_t>
      demands;  // positions; a router that splits demands gives several paths of one

 private:
  LinkId link_;
  std::span<const Demand> all_;
  std::vector<double> bytes_;  // by demand
};

base::Result<PlacedRoutes> routes_of(const Network& network, const Job& job,
                                     const Placement& placement, const Choice& choice) {
  return PlacedRoutes::make(network, job, placement, *choice.router, choice.seed, LinkUse(network));
}

std::span<const LinkId> way_of(const PlacedRoutes& routes, const profile::PairCount& pair) {
  if (pair.source == pair.destination) return {};
  return routes.between(static_cast<std::uint32_t>(pair.source),
                        static_cast<std::uint32_t>(pair.destination));
}

HostId host_of(const Placement& placement, std::int64_t rank) {
  return placement[static_cast<std::size_t>(rank)];
}

base::Result<LinkContent> content_by_pairs(const Network& network, const Job& job,
                                           const Placement& placement, const Choice& choice,
                                           LinkId link, PartOfJob part) {
  const auto routes = routes_of(network, job, placement, choice);
  if (!routes) return routes.error();
  LinkContent content;
  std::map<std::pair<HostId, HostId>, double> flows;
  for (const profile::PairCount& pair : part) {
    const std::span<const LinkId> way = way_of(*routes, pair);
    const auto times = std::count(way.begin(), way.end(), link);
    if (times == 0) continue;
    content.pairs.push_back({pair.source, pair.destination, pair.bytes, pair.messages});
    flows[{host_of(placement, pair.source), host_of(placement, pair.destination)}] +=
        static_cast<double>(times) * static_cast<double>(pair.bytes);
  }
  for (const auto& [hosts, bytes] : flows)
    content.flows.push_back({hosts.first, hosts.second, bytes, 1});
  return content;
}

template <typename Row>
void heaviest_first(std::vector<Row>& rows) {
  base::sort_stably(rows, [](const Row& a, const Row& b) { return a.bytes > b.bytes; });
}

}  // namespace

base::Status check_picture(const Network& network) {
  if (network.node_count() <= kMostPictureNodes && network.link_count() <= kMostPictureLinks)
    return base::Done{};
  return base::Error{"'" + network.name() + "' has " + std::to_string(network.node_count()) +
                     " nodes and " + std::to_string(network.link_count()) + " links; at most " +
                     std::to_string(kMostPictureNodes) + " and " +
                     std::to_string(kMostPictureLinks) +
                     " can be drawn; fathom simulate has no such limit"};
}

void write_network(base::JsonWriter& json, const Network& network) {
  const std::vector<std::uint32_t> level = levels_of(network);
  const std::string kind = kind_of(network, level);
  std::vector<NodeId> nodes(network.node_count());
  for (NodeId node = 0; node < network.node_count(); ++node) nodes[node] = node;
  json.field("cluster", network.name());
  json.field("kind", kind);
  json.field("extent", network.grid() ? network.grid()->extent : std::vector<std::uint32_t>());
  json.object("nodes", [&] {
    json.list("name", nodes, [&](NodeId node) { json.value(network.node_name(node)); });
    json.list("host", nodes, [&](NodeId node) { json.value(network.is_host(node) ? 1 : 0); });
    json.field("level", level);
    json.list("point", nodes, [&](NodeId node) { json.value(point_of(network, node)); });
    json.list("group", nodes, [&](NodeId node) {
      json.value(kind == "dragonfly" && !network.is_host(node) ? group_of(network.node_name(node))
                                                               : std::int64_t{-1});
    });
    json.list("ranks", nodes, [&](NodeId node) {
      json.value(network.is_host(node) ? network.slots(node) : std::uint32_t{0});
    });
  });
  json.object("links", [&] {
    const auto links = network.links();
    json.list("source", links, [&](const Link& link) { json.value(link.source); });
    json.list("target", links, [&](const Link& link) { json.value(link.target); });
    json.list("capacity", links, [&](const Link& link) { json.value(link.capacity_Bps); });
    json.list("latency", links, [&](const Link& link) { json.value(link.latency_s); });
    json.key("host");
    json.open_list();
    for (LinkId id = 0; id < network.link_count(); ++id)
      json.value(network.joins_switches(id) ? 0 : 1);
    json.close_list();
  });
  json.field("relative", has_relative_capacities(network));
}

void write_picture_run(base::JsonWriter& json, const std::string& placement,
                       const std::string& result, const Placement& hosts, const LinkUsage* usage,
                       double seconds) {
  struct Carried {
    LinkId link;
    std::size_t interval;
    double bytes;
  };
  std::vector<Carried> carried;
  for (LinkId link = 0; usage != nullptr && link < usage->links(); ++link) {
    for (std::size_t at = 0; at < usage->intervals(); ++at) {
      if (static_cast<double>(at) * usage->interval_s() >= seconds) break;
      if (usage->bytes(link, at) > 0) carried.push_back({link, at, usage->bytes(link, at)});
    }
  }
  json.object([&] {
    json.field("placement", placement);
    json.key("result");
    json.raw(result);
    json.list("rank_host", hosts, [&](HostId host) { json.value(host); });
    json.field("interval_s", usage != nullptr ? usage->interval_s() : 0.0);
    json.object("carried", [&] {
      json.list("link", carried, [&](const Carried& row) { json.value(row.link); });
      json.list("interval", carried, [&](const Carried& row) { json.value(row.interval); });
      json.list("bytes", carried, [&](const Carried& row) { json.value(row.bytes); });
    });
  });
}

namespace {

// Bytes of each demand that are of `part`.
std::vector<double> parts_of(const Job& job, const PlacedJob& placed, bool per_flow,
                             std::span<const profile::PairCount> part) {
  std::map<std::pair<std::int64_t, std::int64_t>, double> by_pair;
  std::map<std::pair<HostId, HostId>, double> by_hosts;
  for (const profile::PairCount& pair : part) {
    const auto bytes = static_cast<double>(pair.bytes);
    by_pair[{pair.source, pair.destination}] += bytes;
    by_hosts[{host_of(placed.placement, pair.source),
              host_of(placed.placement, pair.destination)}] += bytes;
  }
  std::vector<double> parts;
  for (const Demand& demand : placed.demands) {
    if (!per_flow) {
      const auto found = by_hosts.find({demand.source, demand.destination});
      parts.push_back(found == by_hosts.end() ? 0 : found->second);
      continue;
    }
    const profile::PairCount& pair = job.pairs[demand.key - 1];
    const auto found = by_pair.find({pair.source, pair.destination});
    parts.push_back(found == by_pair.end() ? 0 : found->second);
  }
  return parts;
}

base::Result<LinkContent> content_by_demands(const Network& network, const Job& job,
                                             const PlacedJob& placed, const Choice& choice,
                                             LinkId link, const std::optional<PartOfJob>& part) {
  const bool per_flow = choice.router->per_flow;
  std::vector<double> bytes;
  if (part) {
    bytes = parts_of(job, placed, per_flow, *part);
  } else {
    for (const Demand& demand : placed.demands) bytes.push_back(demand.bytes);
  }
  LinkSink sink(link, placed.demands, std::move(bytes));
  if (auto routed = route_job(network, placed, choice, sink); !routed) return routed.error();
  LinkContent content;
  content.flows = std::move(sink.flows);
  // Demands of single pairs have the pair's position as their key, counted from 1 (demands_of()).
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  if (per_flow) {
    for (const std::size_t index : sink.demands) {
      const profile::PairCount& pair = job.pairs[placed.demands[index].key - 1];
      pairs.insert({pair.source, pair.destination});
    }
  }
  std::set<std::pair<HostId, HostId>> hosts;
  for (const LinkFlow& flow : content.flows) hosts.insert({flow.source, flow.destination});
  for (const profile::PairCount& pair : part ? *part : PartOfJob(job.pairs)) {
    const bool taken = per_flow ? pairs.contains({pair.source, pair.destination})
                                : hosts.contains({host_of(placed.placement, pair.source),
                                                  host_of(placed.placement, pair.destination)});
    if (taken) content.pairs.push_back({pair.source, pair.destination, pair.bytes, pair.messages});
  }
  return content;
}

}  // namespace

base::Result<LinkContent> content_of_link(const Network& network, const Job& job,
                                          const Choice& choice, Paths paths, LinkId link,
                                          const std::optional<PartOfJob>& part) {
  if (link >= network.link_count())
    return base::Error{"'" + network.name() + "' has no link " + std::to_string(link)};
  const auto placed = place_job(network, job, choice);
  if (!placed) return placed.error();
  auto content = paths == Paths::kOfDemands
                     ? content_by_demands(network, job, *placed, choice, link, part)
                     : content_by_pairs(network, job, placed->placement, choice, link,
                                        part ? *part : PartOfJob(job.pairs));
  if (!content) return content.error();
  for (const LinkFlow& flow : content->flows) content->bytes += flow.bytes;
  heaviest_first(content->flows);
  heaviest_first(content->pairs);
  return content;
}

base::Result<std::vector<double>> carried_for(const Network& network, const Job& job,
                                              const Choice& choice, Paths paths, PartOfJob part) {
  const auto placed = place_job(network, job, choice);
  if (!placed) return placed.error();
  if (paths == Paths::kOfDemands) {
    PartSink sink(network.link_count(), parts_of(job, *placed, choice.router->per_flow, part));
    if (auto routed = route_job(network, *placed, choice, sink); !routed) return routed.error();
    return std::move(sink.bytes);
  }
  const auto routes = routes_of(network, job, placed->placement, choice);
  if (!routes) return routes.error();
  std::vector<double> bytes(network.link_count());
  for (const profile::PairCount& pair : part) {
    for (const LinkId link : way_of(*routes, pair)) bytes[link] += static_cast<double>(pair.bytes);
  }
  return bytes;
}

void write_carried_for(base::JsonWriter& json, const std::string& placement,
                       std::span<const double> bytes) {
  std::vector<LinkId> links;
  for (LinkId link = 0; link < bytes.size(); ++link) {
    if (bytes[link] > 0) links.push_back(link);
  }
  json.object([&] {
    json.field("placement", placement);
    json.field("link", links);
    json.list("bytes", links, [&](LinkId link) { json.value(bytes[link]); });
  });
}

void write_link_content(base::JsonWriter& json, const Network& network, LinkId link,
                        const LinkContent& content, std::size_t most) {
  const std::span flows(content.flows.data(), std::min(most, content.flows.size()));
  const std::span pairs(content.pairs.data(), std::min(most, content.pairs.size()));
  json.field("link", link);
  json.field("source", network.node_name(network.link(link).source));
  json.field("target", network.node_name(network.link(link).target));
  put_number(json, "bytes", content.bytes);
  json.object("flows", [&] {
    json.list("source", flows,
              [&](const LinkFlow& flow) { json.value(network.node_name(flow.source)); });
    json.list("destination", flows,
              [&](const LinkFlow& flow) { json.value(network.node_name(flow.destination)); });
    json.list("bytes", flows, [&](const LinkFlow& flow) { json.value(flow.bytes); });
    json.list("share", flows, [&](const LinkFlow& flow) { json.value(flow.share); });
  });
  json.object("pairs", [&] {
    json.list("source", pairs, [&](const LinkPair& pair) { json.value(pair.source); });
    json.list("destination", pairs, [&](const LinkPair& pair) { json.value(pair.destination); });
    json.list("bytes", pairs, [&](const LinkPair& pair) { json.value(pair.bytes); });
    json.list("messages", pairs, [&](const LinkPair& pair) { json.value(pair.messages); });
  });
  json.field("more_flows", content.flows.size() - flows.size());
  json.field("more_pairs", content.pairs.size() - pairs.size());
}

}  // namespace fathom::simulator
