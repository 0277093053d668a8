// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/node_topology.h"

#include <hwloc.h>

#include <algorithm>
#include <memory>

#include "base/text_lines.h"
#include "simulator/network/given_routes.h"

namespace fathom::simulator {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

// Null if hwloc cannot read the file.
Topology load_topology(const std::string& text) {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return nullptr;
  Topology topology(made);
  const bool right =
      hwloc_topology_set_xmlbuffer(made, text.c_str(), static_cast<int>(text.size() + 1)) == 0 &&
      hwloc_topology_load(made) == 0;
  return right ? std::move(topology) : nullptr;
}

// Cores, or processing units if hwloc saw no cores.
hwloc_obj_type_t core_type(hwloc_topology_t topology) {
  return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

std::uint32_t socket_of(hwloc_topology_t topology, hwloc_const_cpuset_t cpus) {
  for (int at = 0; at < hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE); ++at) {
    const hwloc_obj_t package =
        hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, static_cast<unsigned>(at));
    if (hwloc_bitmap_isincluded(cpus, package->cpuset)) return static_cast<std::uint32_t>(at);
  }
  return 0;
}

// Skips domains without cores (memory only) and further domains with the same cores.
std::vector<NumaDomain> domains_of(hwloc_topology_t topology, hwloc_obj_type_t type) {
  std::vector<NumaDomain> domains;
  for (int at = 0; at < hwloc_get_nbobjs_by_type(topology, type); ++at) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(at));
    const hwloc_obj_type_t core = core_type(topology);
    const int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, object->cpuset, core);
    if (cores <= 0) continue;
    const unsigned first =
        hwloc_get_obj_inside_cpuset_by_type(topology, object->cpuset, core, 0)->logical_index;
    const bool again = std::any_of(domains.begin(), domains.end(),
                                   [=](const NumaDomain& one) { return one.first_core == first; });
    if (!again)
      domains.push_back(
          {socket_of(topology, object->cpuset), first, static_cast<std::uint32_t>(cores)});
  }
  std::sort(domains.begin(), domains.end(), [](const NumaDomain& one, const NumaDomain& other) {
    return one.first_core < other.first_core;
  });
  return domains;
}

// The links inside machines through which a domain's traffic passes; kNoId where there is none.
struct InnerLinks {
  HostId machine = kNoId;        // in the network of whole machines
  std::uint32_t socket = kNoId;  // the switch that joins the domains of a socket, or the machine's
  LinkId out = kNoId, in = kNoId;   // between the domain and that switch
  LinkId up = kNoId, down = kNoId;  // between that switch and the machine's
};

// The routes that were given between machines, from domain to domain.
class RoutesOfDomains : public GivenRoutes {
 public:
  // `offset`: what was added to the numbers of the machines' links.
  RoutesOfDomains(std::shared_ptr<const GivenRoutes> outer, std::vector<InnerLinks> domains,
                  LinkId offset)
      : outer_(std::move(outer)), domains_(std::move(domains)), offset_(offset) {}

  bool append(HostId source, HostId destination, std::vector<LinkId>& links) const override {
    const InnerLinks &from = domains_[source], &to = domains_[destination];
    const auto pass = [&](LinkId link) {
      if (link != kNoId) links.push_back(link);
    };
    pass(from.out);
    if (from.machine != to.machine || from.socket != to.socket) pass(from.up);
    if (from.machine != to.machine) {
      const std::size_t begin = links.size();
      if (!outer_->append(from.machine, to.machine, links)) return false;
      for (std::size_t at = begin; at < links.size(); ++at) links[at] += offset_;
    }
    if (from.machine != to.machine || from.socket != to.socket) pass(to.down);
    pass(to.in);
    return true;
  }

 private:
  const std::shared_ptr<const GivenRoutes> outer_;
  const std::vector<InnerLinks> domains_;  // by host of the divided network
  const LinkId offset_;
};

class Expander {
 public:
  Expander(const Network& network, const NodeTopology& node, double capacity_Bps, double latency_s)
      : network_(network),
        node_(node),
        capacity_Bps_(capacity_Bps),
        latency_s_(latency_s),
        builder_(network.name()) {}

  base::Result<Network> expand() {
    for (NodeId node = 0; node < network_.node_count(); ++node) {
      numbers_.push_back(network_.is_host(node) ? machine(node)
                                                : builder_.add_copy(network_, node));
    }
    for (const Link& link : network_.links()) {
      builder_.add_link(numbers_[link.source], numbers_[link.target], link.capacity_Bps,
                        link.latency_s, link.port);
    }
    if (network_.grid()) builder_.set_grid(*network_.grid());
    auto expanded = builder_.build();
    if (expanded && network_.given_routes()) {
      expanded->give_routes(std::make_shared<const RoutesOfDomains>(
          network_.given_routes(), std::move(domains_), inner_links_));
    }
    return expanded;
  }

 private:
  // The node that the network's links lead to.
  std::uint32_t machine(HostId host) {
    const std::string& name = network_.node_name(host);
    if (node_.domains.size() == 1) {
      domains_.push_back({host, kNoId, kNoId, kNoId, kNoId, kNoId});
      return builder_.add_host(name, node_.domains.front().cores, network_.mac(host));
    }
    const std::uint32_t centre = builder_.add_inside(name);
    std::vector<std::uint32_t> sockets(node_.sockets, centre);
    std::vector<LinkId> up(node_.sockets, kNoId);
    if (node_.sockets > 1 && node_.sockets < node_.domains.size()) {
      for (std::uint32_t at = 0; at < node_.sockets; ++at) {
        sockets[at] = builder_.add_inside(name + "/socket" + std::to_string(at));
        up[at] = add_inner(sockets[at], centre);
      }
    }
    for (std::size_t at = 0; at < node_.domains.size(); ++at) {
      const NumaDomain& domain = node_.domains[at];
      const std::uint32_t part = builder_.add_part(name + "/numa" + std::to_string(at),
                                                   domain.cores, {name, domain.first_core});
      const LinkId out = add_inner(part, sockets[domain.socket]);
      const LinkId above = up[domain.socket];
      domains_.push_back(
          {host, sockets[domain.socket], out, out + 1, above, above == kNoId ? kNoId : above + 1});
    }
    return centre;
  }

  // The link from `below`; the one back follows it.
  LinkId add_inner(std::uint32_t below, std::uint32_t above) {
    builder_.add_cable(below, above, capacity_Bps_, latency_s_);
    return std::exchange(inner_links_, inner_links_ + 2);
  }

  const Network& network_;
  const NodeTopology& node_;
  const double capacity_Bps_, latency_s_;
  NetworkBuilder builder_;
  std::vector<std::uint32_t> numbers_;
  std::vector<InnerLinks> domains_;  // by host
  LinkId inner_links_ = 0;           // how many; the network's follow them
};

}  // namespace

base::Result<NodeTopology> read_hwloc(const std::string& path) {
  const auto text = base::read_text(path);
  if (!text) return text.error();
  const Topology topology = load_topology(*text);
  if (!topology)
    return base::Error{path +
                       ": is not a topology that hwloc can read; write one with 'lstopo FILE.xml'"};
  NodeTopology node;
  const int sockets = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PACKAGE);
  node.sockets = static_cast<std::uint32_t>(std::max(1, sockets));
  node.domains = domains_of(topology.get(), HWLOC_OBJ_NUMANODE);
  if (node.domains.size() < node.sockets && sockets > 0)
    node.domains = domains_of(topology.get(), HWLOC_OBJ_PACKAGE);
  if (node.domains.empty()) return base::Error{path + ": no core belongs to a socket or NUMA node"};
  return node;
}

base::Result<Network> with_nodes(const Network& network, const NodeTopology& node,
                                 double capacity_Bps, double latency_s) {
  const double inside = static_cast<double>(node.domains.size()) + node.sockets;
  const double nodes = network.node_count() + network.host_count() * inside,
               links = network.link_count() + 2 * network.host_count() * inside;
  if (nodes > kMostNodes || links > kMostLinks)
    return base::Error{"'" + network.name() +
                       "' with the parts of its hosts: " + too_large(nodes, links).message};
  return Expander(network, node, capacity_Bps, latency_s).expand();
}

}  // namespace fathom::simulator
